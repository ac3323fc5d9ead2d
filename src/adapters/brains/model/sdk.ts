/** The `ai` package, which takes a while to load and is not needed before the first question. */
export type Sdk = Pick<typeof import('ai'), 'generateText' | 'jsonSchema' | 'ToolChoiceViolationError'>

export async function loadSdk(): Promise<Sdk> {
  // Its warnings would go to the console, which belongs to the doors.
  globalThis.AI_SDK_LOG_WARNINGS = false
  return await import('ai')
}
