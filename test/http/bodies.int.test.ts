import { describe, expect, it } from 'vitest'
import { openDoor, workerToken } from './open-door.ts'

const mission = 'name: M\ntasks: [{ title: a, assignTo: ext, description: Do it. }]'

describe('a case in which a key appears twice', () => {
  it.each([
    ['at the top', '{"attempt":1,"case":{"summary":"untested","summary":"tested","ac_coverage":[]}}'],
    ['further down', '{"attempt":1,"case":{"summary":"s","ac_coverage":[{"criterion":"AC1","pointer":"a:1","pointer":"b:1"}]}}'],
    ['written otherwise', '{"attempt":1,"case":{"summary":"untested","\\u0073ummary":"tested","ac_coverage":[]}}'],
    ['two cases', '{"attempt":1,"case":{"summary":"untested","ac_coverage":[]},"case":{"summary":"tested","ac_coverage":[]}}'],
  ])('is refused: %s', async (_where, body) => {
    const { ask, engine } = await openDoor()
    await ask('/v1/missions', { body: mission, headers: { 'content-type': 'application/yaml' } })
    expect((await ask('/v1/tasks/m-1%2Fa/take', { body: {}, token: workerToken })).json).toMatchObject({ attempt: 1 })
    const refused = await ask('/v1/tasks/m-1%2Fa/case', { body, token: workerToken })
    expect(refused).toMatchObject({ status: 400, json: { code: 'invalid_request', detail: expect.stringContaining('a key twice') } })
    expect((await engine.task('m-1/a'))?.status).toBe('running')
    const asText = { attempt: 1, case: '{"summary":"untested","summary":"tested","ac_coverage":[]}' }
    const { json } = await ask('/v1/tasks/m-1%2Fa/case', { body: asText, token: workerToken })
    expect(json.problems).toEqual([expect.stringContaining('twice')])
  })
})
