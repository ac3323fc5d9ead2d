import { createInterface } from 'node:readline/promises'
import type { Terminal } from '../../doors/cli/app.ts'
import { agentVariables } from '../token-path.ts'

/** Asks a person yes or no; anything but a yes is no. Undefined where none is there: off a terminal, in continuous integration, under an agent. */
export async function askPerson(question: string, { env, stderr }: Terminal): Promise<boolean | undefined> {
  if (process.stdin.isTTY !== true || stderr.isTTY !== true || isSet(env.CI) || agentVariables.some((name) => isSet(env[name])))
    return undefined
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await answerOf(reader, `${question} [y/N] `)).trim())
  } finally {
    reader.close()
  }
}

/** A terminal that is closed has answered no. */
function answerOf(reader: ReturnType<typeof createInterface>, question: string): Promise<string> {
  return new Promise((resolve, reject) => {
    reader.once('close', () => resolve(''))
    reader.question(question).then(resolve, reject)
  })
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== '0' && value !== 'false'
