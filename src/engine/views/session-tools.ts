import type { EventData } from '../../contract/events/manifest.ts'
import type { View } from '../../ports/journal.ts'

/** What programs of judges and checks load beside snapshots, as sessions knew it, by digests of what was noted. */
export interface SessionTools {
  /** What the next session is held against: what the last one was, or what the owner accepted since. */
  known?: string
  /** What the owner accepted last. */
  accepted?: string
  /** What was doubted last, out loud: the owner's next word is about it. */
  doubted?: string
}

export const sessionToolsKey = 'tools'

/** One row. */
export const sessionToolsView: View<SessionTools> = {
  name: 'session_tools',
  keys: ({ type }) => (type === 'session.started' || type === 'session.unreviewed' || type === 'policy.accepted' ? [sessionToolsKey] : []),
  fold: (row, event) => {
    if (event.type === 'session.started') {
      const { tools, unseen } = event.data as EventData<'session.started'>
      return tools === undefined || unseen ? row : { ...row, known: tools }
    }
    if (event.type === 'session.unreviewed') {
      const { tools } = event.data as EventData<'session.unreviewed'>
      return tools === undefined ? row : { ...row, doubted: tools }
    }
    const accepted = (event.data as EventData<'policy.accepted'>).how === 'word' ? row?.doubted : undefined
    return accepted === undefined ? row : { known: accepted, accepted }
  },
}
