import type { MissionFile } from '../../contract/mission/mission.ts'
import type { Finding, Path } from '../../contract/source/problem.ts'
import { named } from '../../contract/source/shown.ts'
import { suggest } from '../../contract/source/suggest.ts'
import { slugOf, uniqueSlugs } from './ids.ts'

/** Comparing an unknown name with all titles is slow; past this many unknown names none is suggested. */
const mostSuggestions = 20

/** The tasks of a mission by every name that may refer to them. */
export interface TaskNames {
  missionId: string
  /** Ids in the order of the file. */
  ids: string[]
  /** Position of the task that a title, an id or the id's last part names. A title wins over another task's id. */
  find: (name: string) => number | undefined
  findings: Finding[]
}

/** Gives every task its id and finds titles that are there twice. */
export function nameTasks(mission: MissionFile): TaskNames {
  const missionId = slugOf(mission.name)
  const findings: Finding[] = []
  const byTitle = new Map<string, number>()
  for (const [index, task] of mission.tasks.entries()) {
    const title = task.title.normalize()
    const earlier = byTitle.get(title)
    if (earlier === undefined) byTitle.set(title, index)
    else
      findings.push({
        path: ['tasks', index, 'title'],
        message: `the title ${named(task.title)} is that of tasks[${earlier}], too`,
        fix: 'give each task a title of its own',
      })
  }
  // A title that is there twice is refused, so the slugs of those that remain stand for all.
  const titles = [...byTitle.keys()]
  const slugs = uniqueSlugs(titles)
  const slugOfTitle = new Map(titles.map((title, index) => [title, slugs[index] ?? '']))
  const bySlug = new Map(titles.map((title, index) => [slugs[index] ?? '', byTitle.get(title)]))
  const ids = mission.tasks.map((task) => `${missionId}/${slugOfTitle.get(task.title.normalize())}`)
  const find = (name: string) => {
    const title = name.trim().normalize()
    const slug = title.startsWith(`${missionId}/`) ? title.slice(missionId.length + 1) : title
    return byTitle.get(title) ?? bySlug.get(slug)
  }
  return { missionId, ids, find, findings }
}

/** Tasks that a list names, with where each was written; unknown and repeated names are findings. */
export function resolveNames(
  list: readonly string[],
  path: Path,
  names: TaskNames,
  mission: MissionFile,
  findings: Finding[],
): { task: number; path: Path }[] {
  const seen = new Set<number>()
  const resolved: { task: number; path: Path }[] = []
  for (const [index, name] of list.entries()) {
    const task = names.find(name)
    const at = [...path, index]
    if (task === undefined) findings.push(unknownTask(at, name, mission, findings.length < mostSuggestions))
    else if (seen.has(task)) findings.push({ path: at, message: `the task ${named(name)} is listed twice` })
    else {
      seen.add(task)
      resolved.push({ task, path: at })
    }
  }
  return resolved
}

function unknownTask(path: Path, name: string, mission: MissionFile, suggesting: boolean): Finding {
  const meant = suggesting
    ? suggest(
        name,
        mission.tasks.map((task) => task.title),
      )
    : undefined
  return { path, message: `no task is called ${named(name)}`, ...(meant === undefined ? {} : { fix: `did you mean ${named(meant)}?` }) }
}
