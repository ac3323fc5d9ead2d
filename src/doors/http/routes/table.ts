import { z } from 'zod'
import type { Route } from '../route.ts'
import { deliverableRoutes } from './deliverables.ts'
import { inboxRoutes } from './inbox.ts'
import { missionRoutes } from './missions.ts'
import { reviewRoutes } from './reviews.ts'
import { serviceRoutes } from './service.ts'
import { taskRoutes } from './tasks.ts'

/** The live stream; the server speaks it itself, connection by connection. */
export const eventsRoute: Route = {
  method: 'get',
  path: '/v1/events',
  scope: 'owner',
  tag: 'audit',
  summary: 'Events as they come (server-sent events). `id` is the position; `Last-Event-ID` or `after` goes on from there without a gap.',
  query: z.object({
    after: z.coerce.number().int().min(0).optional().describe('Position to go on from; 0 for all. Without it, from now on.'),
  }),
  reply: 'events',
  status: [200],
  handle: async () => {
    throw new Error('the live stream is no answer')
  },
}

/** Every route. The document and the test of scopes are read off it. */
export const routes: readonly Route[] = [
  ...missionRoutes,
  ...taskRoutes,
  ...reviewRoutes,
  ...deliverableRoutes,
  ...inboxRoutes,
  ...serviceRoutes,
  eventsRoute,
]
