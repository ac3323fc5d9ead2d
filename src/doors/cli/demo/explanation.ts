/** What the viewer is told before and after. */
export const explanation = {
  before: (folder: string): string[] => [
    `Assay demo, in ./${folder}: one worker (dev), three judges (ada, bob, cyn). Their answers are scripted; checks, panel, gate and journal are real.`,
    'Watch for: a clean pass · work that passes its check and is still sent back · judges who disagree · praise that is no verdict · work below the bar · a report at the gate to its owner.',
    '',
  ],
  after: (folder: string, prefixes: readonly string[]): string[] => [
    '',
    'What you saw',
    '  Greet the user          checks passed, two judges agreed: accepted clean',
    '  Compute the tip         its check passed, but tip() was hard-coded: sent back with the reason, reworked, accepted clean',
    '  Write the help text     ada and bob disagreed, so cyn was asked: two to one, the dissent is kept',
    '  Summarise the feedback  the judges wrote praise instead of a verdict: unreadable, so no pass; judged again after rework',
    '  Round the amounts       rejected twice: accepted below the bar, with its score, and a person is asked',
    `  Write the release note  started from that work and was told: ${prefixes.join(' ')}`,
    '  The gate                only a PASS for exactly those bytes, or a waiver that stays visible, reaches the owner',
    '',
    'assay run would have ended with exit code 1 here, because one task is below the bar.',
    '',
    `Look into ${folder}/: mission.yaml is the work, judges.yaml what the judges say, .assay/ everything that happened. Then:`,
    `  npx assay ledger round-the-amounts -c ${folder}/assay.yaml`,
    `  npx assay inbox -c ${folder}/assay.yaml`,
    `  npx assay why report -c ${folder}/assay.yaml`,
    `  npx assay audit -c ${folder}/assay.yaml`,
    `  npx assay audit verify -c ${folder}/tampered/assay.yaml`,
  ],
  broken: ['', 'This is not how the demo should end. Please report it, with the folder.'],
}
