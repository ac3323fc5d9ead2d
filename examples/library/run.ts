import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAssay } from 'assay'

/** Judges that answer from a script, so that this runs without a key: the first version of anything is rejected, the second accepted. */
const brain = {
  workers: { '*': [{ print: '42' }] },
  judges: {
    '*': [
      { accept: false, scores: 2, concern: 'It does not say where the figure comes from.', next_step: 'Name the source.' },
      { accept: true, scores: 4 },
    ],
  },
}

const folder = mkdtempSync(join(tmpdir(), 'assay-example-'))
writeFileSync(join(folder, 'brain.yaml'), JSON.stringify(brain))
const assay = await openAssay({
  folder,
  config: {
    brains: { canned: { kind: 'scripted', file: 'brain.yaml' } },
    agents: { writer: { role: 'engineer', brain: 'canned' }, qa: { role: 'reviewer', brain: 'canned' } },
    review: { panel: { size: 1, quorum: 1 } },
  },
})
try {
  const bring = (text: string) => assay.reviewDeliverable({ id: 'report', producer: 'writer', work: { text }, criteria: ['names its source'] })
  const send = () => assay.emitCard({ type: 'report_ready', title: 'The report', metadata: { deliverableId: 'report' } }, 'writer')

  const first = await bring('Sales grew by 12 %.')
  console.log('first version:', first.ok && first.value.verdict)
  const early = await send()
  console.log('sent too early:', early.ok ? 'released' : `refused (${early.code})`)
  const second = await bring('Sales grew by 12 % (ledger of October, page 3).')
  console.log('second version:', second.ok && second.value.verdict)
  const sent = await send()
  console.log('sent again:', sent.ok ? `in the inbox, ${sent.card.flag}` : `refused (${sent.code})`)

  const [delegated] = await assay.delegate({ goal: 'Work out the answer', to: 'writer', acceptance_criteria: 'it is a number' }, { by: 'qa' }).then((done) =>
    done.ok ? done.value : [],
  )
  console.log('delegated:', delegated?.status, delegated?.judge?.verdict)
  console.log('audit:', (await assay.verify()).breaks.length === 0 ? 'intact' : 'broken')
} finally {
  await assay.close()
  rmSync(folder, { recursive: true, force: true })
}
