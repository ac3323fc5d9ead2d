import type { BrowserContext, CDPSession, Frame, Page } from 'playwright-core'

/** A place beside a frame's own scripts: it sees the same elements, but nothing that the page has put in the place of a built-in. */
export interface World {
  /** The page itself, not a frame inside it. */
  main: boolean
  /** The value of an expression, awaited and as data. Throws where the expression does. */
  evaluate<T>(expression: string): Promise<T>
}

export interface Frozen {
  /** Session of the page itself. */
  session: CDPSession
  worlds: World[]
}

const mostFrames = 50
const mostNodes = 200_000

/** A page that cannot be looked at as a whole. */
export class Unlookable extends Error {}

/**
 * Stops the page's scripts for good, timers and handlers included, so that every rule looks at the same page,
 * and opens a world of our own in each of its frames.
 */
export async function freeze(page: Page): Promise<Frozen> {
  const context = page.context()
  const frames = page.frames()
  if (frames.length > mostFrames) throw new Unlookable(`the page has more than ${mostFrames} frames`)
  const session = await context.newCDPSession(page)
  const sessions = [session, ...(await separateSessions(context, frames.slice(1)))]
  for (const each of sessions) await each.send('Emulation.setScriptExecutionDisabled', { value: true })
  const found = (await Promise.all(sessions.map(worldsOf))).flat()
  if (found.length < page.frames().length) throw new Unlookable('the page has a frame that cannot be looked into')
  const worlds = found.filter((world) => world !== 'empty').map((world, index) => ({ main: index === 0, evaluate: world }))
  if (found[0] === 'empty') throw new Unlookable('the page went away')
  for (const each of sessions) await refuseClosedRoots(each)
  return { session, worlds }
}

/** Frames that run in a process of their own have a session of their own. */
async function separateSessions(context: BrowserContext, frames: readonly Frame[]): Promise<CDPSession[]> {
  const sessions: CDPSession[] = []
  for (const frame of frames) {
    try {
      sessions.push(await context.newCDPSession(frame))
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('separate CDP session')) throw error
    }
  }
  return sessions
}

type FrameTree = Awaited<ReturnType<typeof frameTreeOf>>

async function frameTreeOf(session: CDPSession) {
  return (await session.send('Page.getFrameTree')).frameTree
}

function flat(tree: FrameTree): FrameTree['frame'][] {
  return [tree.frame, ...(tree.childFrames ?? []).flatMap(flat)]
}

/** A frame that was refused shows the browser's own error page, which is nobody's work. */
async function worldsOf(session: CDPSession): Promise<(World['evaluate'] | 'empty')[]> {
  const frames = flat(await frameTreeOf(session))
  return await Promise.all(
    frames.map(async ({ id, unreachableUrl }) => {
      if (unreachableUrl !== undefined) return 'empty'
      const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: id, worldName: 'assay' })
      return evaluator(session, executionContextId)
    }),
  )
}

function evaluator(session: CDPSession, contextId: number): World['evaluate'] {
  return async <T>(expression: string) => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      contextId,
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails !== undefined) {
      throw new Unlookable(`the page could not be looked at: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
    }
    return result.value as T
  }
}

interface DomNode {
  nodeName: string
  shadowRootType?: string | undefined
  shadowRoots?: DomNode[] | undefined
  children?: DomNode[] | undefined
}

/** What stands in a closed shadow root is shown to people, but no rule could see it. */
async function refuseClosedRoots(session: CDPSession): Promise<void> {
  const { nodes } = await session.send('Memory.getDOMCounters')
  if (nodes > mostNodes) throw new Unlookable(`the page has more than ${mostNodes} nodes`)
  const { root } = await session.send('DOM.getDocument', { depth: -1, pierce: true })
  const waiting: DomNode[] = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.shadowRootType === 'closed') throw new Unlookable('the page has a closed shadow root, which no rule can look into')
    for (const child of [...(node.shadowRoots ?? []), ...(node.children ?? [])]) waiting.push(child)
  }
}
