import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface Letter {
  from: string
  to: string[]
  text: string
}

export interface SmtpSink extends AsyncDisposable {
  port: number
  letters: Letter[]
  /** Lines that the clients sent outside letters. */
  commands: string[]
}

export interface SinkOptions {
  /** Answer to a command instead of the usual one, by its verb. `null`: none at all. */
  answers?: Record<string, string | null>
  /** The first words; `null`: none. */
  greeting?: string | null
}

const usual: Record<string, string> = {
  EHLO: '250-sink\r\n250 AUTH PLAIN',
  HELO: '250 sink',
  AUTH: '235 welcome',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  QUIT: '221 bye',
  RSET: '250 ok',
}

/** A mail server on loopback that takes letters and keeps them. */
export async function startSmtpSink({ answers = {}, greeting = '220 sink' }: SinkOptions = {}): Promise<SmtpSink> {
  const letters: Letter[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let letter: Letter = { from: '', to: [], text: '' }
    let inData = false
    let buffered = ''
    const say = (line: string | null | undefined) => (line === null || line === undefined ? undefined : socket.write(`${line}\r\n`))
    const take = (line: string) => {
      if (inData && line !== '.') {
        letter.text += `${line}\n`
        return
      }
      if (inData) {
        inData = false
        letters.push(letter)
        letter = { from: '', to: [], text: '' }
        return void say('250 taken')
      }
      commands.push(line)
      const verb = line.split(' ')[0]?.toUpperCase() ?? ''
      const answer = Object.hasOwn(answers, verb) ? answers[verb] : (usual[verb] ?? '500 what?')
      if (verb === 'MAIL') letter.from = line
      if (verb === 'RCPT') letter.to.push(line)
      inData = verb === 'DATA' && answer?.startsWith('354') === true
      say(answer)
    }
    socket.on('data', (chunk) => {
      const lines = (buffered + chunk.toString('utf8')).split('\r\n')
      buffered = lines.pop() ?? ''
      for (const line of lines) take(line)
    })
    say(greeting)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    letters,
    commands,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
