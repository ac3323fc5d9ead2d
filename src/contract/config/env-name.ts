import { z } from 'zod'

/**
 * Name of an environment variable. Whoever writes the secret itself here by mistake must not find it in the error message:
 * `secret` keeps the value out of every problem.
 */
export const EnvName = z.string().refine((name) => /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name), {
  message: 'expected the name of an environment variable (letters, digits, _), not its value',
  params: { secret: true },
})
