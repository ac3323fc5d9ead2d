import { sha256Hex } from '../../../contract/canonical.ts'

/** First line of a file that init wrote: it says so, and proves whether the rest is as it was written. */
const seal = /^# Written by assay init \((?<template>[a-z-]+), (?<digest>[0-9a-f]{16})\)\. Yours to change\.\n/

const digestOf = (body: string): string => sha256Hex(body).slice(0, 16)

export function sealed(template: string, body: string): string {
  return `# Written by assay init (${template}, ${digestOf(body)}). Yours to change.\n${body}`
}

/** Whether init wrote a file, and whether anybody changed it since. */
export function readSeal(text: string): { template: string; unchanged: boolean } | undefined {
  const found = seal.exec(text)
  if (!found?.groups) return undefined
  const { template = '', digest } = found.groups
  return { template, unchanged: digestOf(text.slice(found[0].length)) === digest }
}
