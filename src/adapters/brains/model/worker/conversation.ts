import { z } from 'zod'
import { type Message, toolSays, userSays } from '../speech.ts'
import { notDone, reminder } from './instructions.ts'
import { Spent } from './spending.ts'
import { caseTool } from '../desk/case-tool.ts'

/** A stored piece of the conversation: messages, and where in it they stand. What is stored twice is there once. */
const Piece = z.object({
  attempt: z.int(),
  from: z.int().nonnegative(),
  messages: z.array(z.custom<Message>((value) => typeof value === 'object' && value !== null)),
  /** The call that was about to be done when this was stored. */
  calling: z.string().optional(),
  /** The answer to a case that was heard last. */
  heard: z.string().optional(),
  spent: Spent,
})
type Piece = z.infer<typeof Piece>

/** A tool call that has no answer yet. */
export interface OpenCall {
  id: string
  name: string
  input: unknown
}

/** What the model has not heard yet: the answer to its case, or why that could not be taken. */
interface Heard {
  answer: string | undefined
  refused?: string | undefined
}

/** A worker's conversation with its model, as it goes on over processes and attempts. */
export class Conversation {
  readonly messages: Message[]
  /** What this attempt has used before. */
  readonly before: Spent | undefined
  readonly #attempt: number
  #stored: number
  #turns: number
  #heard: string | undefined
  #handedIn = false
  /** Up to where the length is known: what was said once does not change. */
  #measured: number
  #length = 0

  private constructor(attempt: number, pieces: readonly Piece[]) {
    this.#attempt = attempt
    this.messages = []
    let begins = 0
    for (const piece of pieces) {
      this.messages.length = Math.min(this.messages.length, piece.from)
      if (piece.attempt !== attempt) begins = piece.from + piece.messages.length
      this.messages.push(...piece.messages)
    }
    const last = pieces.at(-1)
    this.#stored = this.messages.length
    this.#measured = begins
    this.#turns = this.messages.slice(begins).filter(({ role }) => role === 'assistant').length
    this.#heard = last?.heard
    this.before = last?.attempt === attempt ? last.spent : undefined
  }

  /** Reads a conversation back, and answers what was left open: the case that was handed in, and calls that nobody will do any more. */
  static open(stored: readonly string[], attempt: number, first: string, { answer, refused }: Heard): Conversation {
    const pieces = stored.map((text) => Piece.parse(JSON.parse(text)))
    const talk = new Conversation(attempt, pieces)
    if (talk.messages.length === 0) talk.messages.push(userSays(first))
    else talk.#goOn({ answer, refused }, pieces.at(-1)?.calling)
    return talk
  }

  /** It goes on after a case that was handed in. */
  get handedIn(): boolean {
    return this.#handedIn
  }

  /** Messages of the model in this attempt. */
  get turns(): number {
    return this.#turns
  }

  /** Characters of everything said in this attempt. */
  get length(): number {
    for (const message of this.messages.slice(this.#measured)) this.#length += JSON.stringify(message).length + 1
    this.#measured = this.messages.length
    return this.#length
  }

  /** What the model said. */
  hear(message: Message): void {
    this.messages.push(message)
    this.#turns += 1
  }

  tell(text: string): void {
    this.messages.push(userSays(text))
  }

  answer({ id, name }: OpenCall, text: string): void {
    this.messages.push(toolSays(id, name, text))
  }

  /** Calls of the model's last message that have no answer yet, in order. */
  openCalls(): OpenCall[] {
    const at = this.messages.findLastIndex(({ role }) => role === 'assistant')
    const last = this.messages[at]
    if (last?.role !== 'assistant') return []
    const after = this.messages.slice(at + 1)
    const answered = new Set(after.flatMap((message) => (message.role === 'tool' ? message.content : [])).map(idOf))
    return last.content.flatMap((part) =>
      part.type === 'tool-call' && !answered.has(part.toolCallId) ? [{ id: part.toolCallId, name: part.toolName, input: part.input }] : [],
    )
  }

  /** What was added since it was last known to be stored, as text. */
  said(spent: Spent, calling?: OpenCall): string {
    const piece: Piece = {
      attempt: this.#attempt,
      from: this.#stored,
      messages: this.messages.slice(this.#stored),
      spent,
      ...(calling && { calling: calling.id }),
      ...(this.#heard !== undefined && { heard: this.#heard }),
    }
    return JSON.stringify(piece)
  }

  /** Messages of the model that are not known to be stored. */
  get unstored(): number {
    return this.messages.slice(this.#stored).filter(({ role }) => role === 'assistant').length
  }

  /** All of it is stored now. */
  kept(): void {
    this.#stored = this.messages.length
  }

  #goOn({ answer, refused }: Heard, calling: string | undefined): void {
    if (refused) for (const call of this.openCalls()) if (call.name === caseTool) this.answer(call, refused)
    const open = this.openCalls()
    const handedIn = open.find(({ name, id }) => name === caseTool && id !== calling)
    const news = answer !== undefined && (handedIn !== undefined || answer !== this.#heard)
    if (news) this.#heard = answer
    this.#handedIn = news && handedIn !== undefined
    for (const call of open) {
      if (call.id === calling) this.answer(call, notDone.cutOff)
      else if (call === handedIn) this.answer(call, answer ?? notDone.unread)
      else if (news) this.answer(call, notDone.neverBegun)
    }
    if (news && handedIn === undefined) this.tell(answer)
    else if (this.messages.at(-1)?.role === 'assistant' && open.length === 0) this.tell(reminder)
  }
}

function idOf(part: object): unknown {
  return 'toolCallId' in part ? part.toolCallId : undefined
}
