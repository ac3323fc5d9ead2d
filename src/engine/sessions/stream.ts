/** Stream of what is known of a coding agent's session besides its tasks. */
export const sessionStream = (agent: string, session: string): string => `session/${agent}/${session}`
