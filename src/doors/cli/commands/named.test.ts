import { describe, expect, it } from 'vitest'
import { findNamed } from './named.ts'

const task = (id: string, title = id) => ({ id, title })
const reviewTask = (id: string, title: string) => ({ id, title, outside: true as const })
const tasks = [
  task('m-1/solo', 'Go alone'),
  task('m-1/twice'),
  task('m-2/twice'),
  task('m-1/report'),
  reviewTask('deliverable-fold-1/subject', 'fold'),
  reviewTask('deliverable-fold-2/subject', 'fold'),
  reviewTask('deliverable-solo-1/subject', 'Go alone'),
]
const deliverables = [
  { deliverable: 'fold', task: 'deliverable-fold-2/subject' },
  { deliverable: 'solo', task: 'deliverable-solo-1/subject' },
  { deliverable: 'report', task: 'm-1/report' },
]
const find = (wanted: string) => findNamed(wanted, tasks, deliverables)

describe('a name', () => {
  it.each([
    ['fold', { task: 'deliverable-fold-2/subject', deliverable: 'fold' }],
    ['deliverable-fold-1/subject', { task: 'deliverable-fold-1/subject' }],
    ['Go alone', { task: 'm-1/solo' }],
    ['m-1/solo', { task: 'm-1/solo' }],
    ['task:solo', { task: 'm-1/solo' }],
    ['deliverable:solo', { task: 'deliverable-solo-1/subject', deliverable: 'solo' }],
    ['report', { task: 'm-1/report' }],
    ['deliverable:report', { task: 'm-1/report', deliverable: 'report' }],
  ])('%s is one thing', (wanted, found) => expect(find(wanted)).toEqual({ ok: true, ...found }))

  it.each([
    ['solo', 'say task:m-1/solo or deliverable:solo'],
    ['twice', 'could be m-1/twice or m-2/twice'],
    ['task:fold', 'there is no task fold'],
    ['deliverable:twice', 'there is no deliverable twice'],
    ['subject', 'there is no task or deliverable subject'],
  ])('%s is refused', (wanted, says) => expect(find(wanted)).toEqual({ ok: false, problem: expect.stringContaining(says) }))
})
