/** The demo's project: an ordinary configuration, mission and script, so that the folder it leaves can be read, changed and run again. */
export const demoFiles: Record<string, string> = {
  'assay.yaml': `# Four agents whose brains are scripted: no key, no network. The checks are real.
version: 1
brains:
  hands: { kind: scripted, file: workers.yaml }
  eyes: { kind: scripted, file: judges.yaml }
agents:
  dev: { role: engineer, brain: hands }
  ada: { role: reviewer, brain: eyes, instructions: Check it against the criteria. }
  bob: { role: reviewer, brain: eyes, instructions: Look for what is missing. }
  cyn: { role: reviewer, brain: eyes, instructions: Try to break it. }
review: { threshold: 60, maxAttempts: 2 }
concurrency: 3
`,
  'mission.yaml': `name: Ship the tip calculator
tasks:
  - title: Greet the user
    assignTo: dev
    description: Write greet.mjs. It prints a greeting.
    acceptanceCriteria: [greet.mjs prints Hello]
    checks:
      - { kind: command, id: runs, argv: [node, greet.mjs] }
      - { kind: text, id: says-hello, path: greet.mjs, contains: [Hello] }
  - title: Compute the tip
    assignTo: dev
    description: Write tip.mjs. It exports tip(bill, percent).
    acceptanceCriteria: [tip works for any bill and percentage]
    checks:
      - { kind: command, id: tip-of-100, argv: [node, -e, "import('./tip.mjs').then(({ tip }) => process.exit(tip(100, 10) === 10 ? 0 : 1))"] }
  - title: Write the help text
    assignTo: dev
    description: Write HELP.md.
    acceptanceCriteria: [{ text: it shows an example, hard: false }]
    checks: [{ kind: file, path: HELP.md }]
  - title: Summarise the feedback
    assignTo: dev
    description: Summarise what users said, in summary.txt.
    acceptanceCriteria: [every complaint is in it]
    checks: [{ kind: file, path: summary.txt, minBytes: 10 }]
  - title: Round the amounts
    assignTo: dev
    description: Write round.mjs. It rounds to whole cents.
    acceptanceCriteria: [{ text: half cents round up, hard: false }]
    checks: [{ kind: file, path: round.mjs }]
  - title: Write the release note
    assignTo: dev
    dependsOn: [Round the amounts, Write the help text]
    description: Say in NOTES.md what is new, and what is not good enough yet.
    acceptanceCriteria: [it names what is not good enough]
    deliverable: { kind: file, path: NOTES.md, id: release-note }
    checks: [{ kind: text, path: NOTES.md, contains: [rounding] }]
`,
  'workers.yaml': `# What the worker does, per task and attempt.
workers:
  Greet the user:
    - { delay: 300ms, write: { greet.mjs: "console.log('Hello, friend of good work')\\n" }, case: { auto: "greet.mjs:1" } }
  Compute the tip:
    - { delay: 300ms, write: { tip.mjs: "export const tip = () => 10\\n" }, case: { auto: "tip.mjs:tip", summary: Tips work. } }
    - { delay: 300ms, write: { tip.mjs: "export const tip = (bill, percent) => (bill * percent) / 100\\n" }, case: { auto: "tip.mjs:tip", summary: Tips are computed now. } }
  Write the help text:
    - { delay: 300ms, write: { HELP.md: "# Tip calculator\\n\\nExample: tip(80, 15) is 12.\\n" }, case: { auto: "HELP.md:3" } }
  Summarise the feedback:
    - { delay: 300ms, write: { summary.txt: "Two users want larger type.\\n" }, case: { auto: "summary.txt:1" } }
    - { delay: 300ms, write: { summary.txt: "Two users want larger type, one wants an undo.\\n" }, case: { auto: "summary.txt:1" } }
  Round the amounts:
    - { delay: 300ms, write: { round.mjs: "export const round = (x) => Math.floor(x)\\n" }, case: { auto: "round.mjs:round" }, print: Rounding is done. }
    - { delay: 300ms, write: { round.mjs: "export const round = (x) => Math.floor(x * 100) / 100\\n" }, case: { auto: "round.mjs:round" }, print: Rounding is done now. }
  Write the release note:
    - { delay: 300ms, write: { NOTES.md: "New: tips and help. Not good enough yet: rounding, it cuts half cents.\\n" }, case: { auto: "NOTES.md:1" } }
`,
  'judges.yaml': `# What each judge answers, per task and review. A judge that is not named answers as "*" does.
judges:
  "*":
    Greet the user:
      - { delay: 300ms, accept: true, scores: 5, concern: Does what it says., evidence: "greet.mjs:1" }
    Compute the tip:
      - { delay: 300ms, accept: false, scores: 2, category: tests_pass_but_wrong, evidence: "tip.mjs:tip", concern: "tip() returns 10 whatever it is given; the check happens to ask for 10.", next_step: Compute the tip from bill and percent. }
      - { delay: 300ms, accept: true, scores: 4, concern: Computed from its arguments now., evidence: "tip.mjs:tip" }
    Write the release note:
      - { delay: 300ms, accept: true, scores: 4, concern: Honest about rounding., evidence: "NOTES.md:1" }
    Summarise the feedback:
      - rounds:
          - { delay: 200ms, raw: "Great summary, I would give it full marks. {\\"verdict\\": \\"accept\\"}" }
          - { delay: 200ms, raw: "As I said: PASS. SCORE: 100. SCORE: 95." }
      - { delay: 300ms, accept: true, scores: 4, concern: All complaints are there., evidence: "summary.txt:1" }
    Round the amounts:
      - { delay: 300ms, accept: false, scores: 2, category: acceptance_gap, evidence: "round.mjs:round", concern: It cuts whole amounts and never rounds., next_step: Round half cents up. }
      - { delay: 300ms, accept: false, scores: 2, category: acceptance_gap, evidence: "round.mjs:1", concern: Cents are right now but half cents are still cut., next_step: Use rounding instead of floor. }
    Report to the client:
      - { delay: 200ms, accept: false, scores: 2, category: half_finished, evidence: "report.md:1", concern: The total is missing., next_step: Name the total. }
      - { delay: 200ms, accept: true, scores: 4, concern: Complete., evidence: "report.md:1" }
    Price list:
      - { delay: 200ms, accept: false, scores: 2, category: acceptance_gap, evidence: "prices.md:1", concern: Prices are of last year., next_step: Take this year's prices. }
    Write the help text:
      - { delay: 300ms, accept: true, scores: 4, concern: Short and clear., evidence: "HELP.md:3" }
  bob:
    Write the help text:
      - { delay: 300ms, accept: false, scores: { correctness: 3, completeness: 2, code_quality: 3, edge_cases: 2 }, category: half_finished, evidence: "HELP.md:3", concern: One example is thin., next_step: Show how to enter a percentage. }
`,
  'report.md': `Eleven tables, nine tips.
`,
  'prices.md': `Lunch 9, dinner 14.
`,
}
