/** Coding agents that have a hook. */
export const hookedAgents = ['claude', 'codex', 'gemini', 'copilot', 'cursor']
