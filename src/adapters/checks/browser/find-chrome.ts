import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { findProgram } from '../../process/program.ts'

/** Names under which a Chromium is found in PATH, best known first. */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge', 'microsoft-edge-stable']

const advice =
  'install Chromium or Chrome (Debian and Ubuntu: `apt install chromium`, macOS: `brew install --cask chromium`), or name its program: `chrome:` in assay.yaml, or the variable ASSAY_CHROME'

export interface ChromeSearch {
  /** Program named by the configuration; then nothing else is tried. */
  chrome?: string | undefined
  env?: Readonly<Record<string, string | undefined>>
  platform?: NodeJS.Platform
  /** Absolute paths looked at after PATH; those that are usual on the platform unless told. */
  places?: readonly string[]
}

/** An installed Chromium, or how to get one. One that is named must be there: another is not taken in its place. */
export function findChrome(search: ChromeSearch = {}): { program: string } | { why: string } {
  const { env = process.env, platform = process.platform } = search
  const path = env.PATH ?? ''
  const named = search.chrome ?? (env.ASSAY_CHROME === '' ? undefined : env.ASSAY_CHROME)
  if (named !== undefined) {
    const found = findProgram(named, process.cwd(), path)
    return 'file' in found ? { program: found.file } : { why: `the browser that is named cannot be run: ${found.message}; ${advice}` }
  }
  // Elsewhere PATH is written differently and browsers are not in it.
  const bare = platform === 'win32' ? [] : names
  for (const candidate of [...bare, ...(search.places ?? usualPlaces(platform, env))]) {
    const found = findProgram(candidate, process.cwd(), path)
    if ('file' in found) return { program: found.file }
  }
  return { why: `no Chromium is installed in the usual places; ${advice}` }
}

function usualPlaces(platform: NodeJS.Platform, env: Readonly<Record<string, string | undefined>>): string[] {
  if (platform === 'darwin') {
    const applications = ['/Applications', join(homedir(), 'Applications')]
    const programs = ['Chromium', 'Google Chrome', 'Microsoft Edge']
    return applications.flatMap((folder) => programs.map((name) => `${folder}/${name}.app/Contents/MacOS/${name}`))
  }
  if (platform === 'win32') {
    const roots = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter((root) => root !== undefined && isAbsolute(root))
    const programs = ['Google/Chrome/Application/chrome.exe', 'Chromium/Application/chrome.exe', 'Microsoft/Edge/Application/msedge.exe']
    return roots.flatMap((root) => programs.map((program) => `${root}/${program}`))
  }
  return ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/google/chrome'].flatMap((folder) => names.map((name) => join(folder, name)))
}
