import type { Config } from '../../../contract/config/config.ts'

/** The configuration as it may be shown. Keys are only ever named in it; what an address can carry (a user, a path, a query) is left out. */
export function withoutSecrets(config: Config): unknown {
  const channels = Object.entries(config.notify.channels).map(([name, channel]) => [
    name,
    channel.kind === 'webhook' && channel.url !== undefined ? { ...channel, url: hidden(channel.url) } : channel,
  ])
  const brains = Object.entries(config.brains).map(([name, brain]) => [
    name,
    brain.kind === 'model' && brain.baseURL !== undefined ? { ...brain, baseURL: withoutUser(brain.baseURL) } : brain,
  ])
  return { ...config, brains: Object.fromEntries(brains), notify: { ...config.notify, channels: Object.fromEntries(channels) } }
}

function hidden(address: string): string {
  return URL.canParse(address) ? `${new URL(address).origin}/…` : '…'
}

function withoutUser(address: string): string {
  if (!URL.canParse(address)) return '…'
  const url = new URL(address)
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`
}
