import { basename, join, relative } from 'node:path'
import type { Digest } from '../../../contract/canonical.ts'
import type { Policy } from '../../../contract/policy.ts'
import { judgingBrains } from '../../../engine/project.ts'
import type { SnapshotFile } from '../../../ports/snapshots.ts'
import { filesOf } from '../../brain-files.ts'
import { judgeFiles, type ToolPlace } from './tools.ts'

/** Bytes of a judge's file in which names of others are looked for. */
const mostBytes = 1024 * 1024
/** Bytes of a judge's program that is kept for a session which nobody saw begin. */
const mostProgramBytes = 64 * 1024 * 1024

/** Files that programs of judges name and that the session changed: judges were run with them as they were. */
export async function oldFilesOf({ folder, config, snapshots }: ToolPlace, before: Digest, now: Digest): Promise<string[]> {
  const commands = judgingBrains(config).filter((name) => config.brains[name]?.kind === 'command')
  const programs = commands.flatMap((name) => filesOf(config.brains[name], folder)).map((file) => relative(folder, file))
  if (programs.length === 0) return []
  const [was, is] = await Promise.all([snapshots.manifest(before), snapshots.manifest(now)])
  const then = new Map(was?.files.map(({ path, digest }) => [path, digest]))
  const later = new Map(is?.files.map(({ path, digest }) => [path, digest]))
  const changed = [...new Set([...then.keys(), ...later.keys()])].filter((path) => then.get(path) !== later.get(path))
  const texts: string[] = []
  for (const path of programs) {
    const bytes = await snapshots.read(before, path)
    if (bytes && bytes.length <= mostBytes) texts.push(Buffer.from(bytes).toString('utf8'))
  }
  return changed.filter((path) => texts.some((text) => text.includes(basename(path))))
}

/**
 * A tree with the judges' own programs as the policy in force has them, byte for byte: where nobody saw the session begin, that the owner accepted that
 * policy is what they are trusted for. A program that is no plain file is not among them, and the judge is missed.
 */
export async function withAcceptedJudges({ folder, config, snapshots }: ToolPlace, ground: Digest, policy: Policy): Promise<Digest> {
  const accepted = (policy.other as { judgeFiles?: Record<string, string> }).judgeFiles ?? {}
  const programs: SnapshotFile[] = []
  for (const path of judgeFiles(folder, config)) {
    const put = await snapshots.putFile(join(folder, path), mostProgramBytes)
    if (put.ok && put.file.digest === `sha256:${accepted[path]}`) programs.push({ ...put.file, path })
  }
  const own = new Set(programs.map(({ path }) => path))
  const { files = [], refused = [] } = (await snapshots.manifest(ground)) ?? {}
  const stays = ({ path }: { path: string }) => !own.has(path)
  return snapshots.compose([...files.filter(stays), ...programs], refused.filter(stays))
}
