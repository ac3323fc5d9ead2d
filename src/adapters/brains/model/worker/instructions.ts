import { caseTool } from '../desk/case-tool.ts'

/** What every worker is told before its task. It never changes within a conversation, so that providers find their cache again. */
export function workerInstructions(own: string | undefined): string {
  const rules = `You do a piece of work in a folder, your workspace, by tools: read_file, list and grep to look, write_file and edit_file to write, run to run a program. Paths are relative to the workspace; there is no way out of it. Nobody answers questions: where something is left open, choose, and say so in the case.
When the work is done, and only then, call ${caseTool}. Its answer may be that the case cannot be read, that checks fail, or what an independent panel found wanting: then mend the work and call ${caseTool} again. Address every point.
Where the work is a text rather than files, write it in the same message as your call of ${caseTool}: what you say there is handed over with it.
The panel looks at the work itself and does not see what you think. Argue honestly, not persuasively: name what you are not sure of and what you touched besides.`
  return own === undefined || own === '' ? rules : `${rules}\n\n${own}`
}

/** Said once to a model that stopped without a case. */
export const reminder = `You stopped without handing in a case. If the work is done, call ${caseTool}; if not, go on with it. If you stop again, the attempt is over.`

/** Answers to calls that are not done. */
export const notDone = {
  cutOff:
    'This call was cut off in the middle: Assay ended while it was being done, and it is not done again. It may have had effects, or part of them. Look before you go on.',
  neverBegun: 'Not done: the conversation was broken off before this call was begun.',
  unread: `Assay ended before it could answer. Call ${caseTool} again.`,
  refused: (problems: readonly string[]) =>
    `The case cannot be taken:\n${problems.map((problem) => `- ${problem}`).join('\n')}\nMend it and call ${caseTool} again.`,
  tooMany: (limit: number) => `Not done: at most ${limit} calls in one message are answered.`,
  twoCases: `there are several different cases in one message; call ${caseTool} once, with the one that you mean`,
  tooLong: (limit: number) => `the case is longer than ${limit} bytes; make it shorter`,
  twice: 'Not done: the arguments say something twice, or are nested too deeply. Say everything once.',
  unknown: (name: string, tools: readonly string[]) => `There is no tool ${name}. There are ${tools.join(', ')}.`,
  badEnding: (finish: string) =>
    `Not done: your message did not end as it should (${finish}), so it may be incomplete. Say it again in smaller pieces.`,
  again: (times: number) => `[The same call had the same answer ${times} times now. Do something else, or hand in your case.]`,
}
