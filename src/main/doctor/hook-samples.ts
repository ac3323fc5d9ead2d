/** What an agent hands its hook when it wants to stop, as far as anybody reads it. */
export function samples(agent: string, folder: string): Record<string, unknown> {
  const shared = { session_id: 'assay-doctor', cwd: folder, transcript_path: null }
  switch (agent) {
    case 'claude':
      return {
        ...shared,
        hook_event_name: 'Stop',
        stop_hook_active: false,
        last_assistant_message: '',
        background_tasks: [],
        session_crons: [],
      }
    case 'codex':
      return { ...shared, hook_event_name: 'Stop', stop_hook_active: false, turn_id: 'assay-doctor', model: 'none' }
    case 'gemini':
      return { ...shared, hook_event_name: 'AfterAgent', prompt: '', prompt_response: '', stop_hook_active: false }
    case 'copilot':
      return { sessionId: 'assay-doctor', cwd: folder, timestamp: 0, stopReason: 'end_turn' }
    default:
      return { conversation_id: 'assay-doctor', hook_event_name: 'stop', workspace_roots: [folder], status: 'completed', loop_count: 0 }
  }
}
