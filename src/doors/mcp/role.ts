/** Who is served. Each role has tools of its own and reaches no other's. */
export const roles = ['worker', 'reviewer', 'owner'] as const
export type Role = (typeof roles)[number]
