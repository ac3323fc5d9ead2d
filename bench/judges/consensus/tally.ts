/** How often a rule was right, weighted by how many panels each ruling stands for. */
export class Tally {
  panels = 0
  calls = 0
  right = 0
  good = 0
  bad = 0
  falsePasses = 0
  falseFails = 0
  /** Rulings that differ from the majority of three. */
  unlikeMajority = 0

  add(weight: number, gold: boolean, ruling: { passes: boolean; calls: number }, majority?: boolean): void {
    this.panels += weight
    this.calls += weight * ruling.calls
    if (gold) this.good += weight
    else this.bad += weight
    if (ruling.passes === gold) this.right += weight
    else if (gold) this.falseFails += weight
    else this.falsePasses += weight
    if (majority !== undefined && majority !== ruling.passes) this.unlikeMajority += weight
  }

  get accuracy(): number {
    return this.right / this.panels
  }

  get callsPerDecision(): number {
    return this.calls / this.panels
  }

  /** Share of bad work that passes. */
  get falsePassRate(): number {
    return this.bad === 0 ? 0 : this.falsePasses / this.bad
  }

  /** Share of good work that fails. */
  get falseFailRate(): number {
    return this.good === 0 ? 0 : this.falseFails / this.good
  }
}
