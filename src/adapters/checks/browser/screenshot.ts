import type { CDPSession } from 'playwright-core'

const tallest = 10_000
const widest = 4_000
const mostBytes = 4 * 1024 * 1024

export interface Screenshot {
  bytes: Buffer
  mediaType: 'image/png' | 'image/jpeg'
  name: string
  /** What the picture leaves out. */
  cut?: string
}

/** The whole page as one picture, a pixel for each CSS pixel, cut where it is too large. */
export async function takeScreenshot(session: CDPSession): Promise<Screenshot | { why: string }> {
  const { cssContentSize, cssLayoutViewport } = await session.send('Page.getLayoutMetrics')
  const wanted = {
    width: Math.ceil(Math.max(cssContentSize.width, cssLayoutViewport.clientWidth)),
    height: Math.ceil(cssContentSize.height),
  }
  const width = Math.min(wanted.width, widest)
  const height = Math.max(1, Math.min(wanted.height, tallest))
  const cut = width < wanted.width || height < wanted.height ? `the page has ${wanted.width}×${wanted.height} px` : undefined
  for (const [format, quality] of [['png'], ['jpeg', 70], ['jpeg', 30]] as const) {
    const { data } = await session.send('Page.captureScreenshot', {
      format,
      ...(quality !== undefined && { quality }),
      captureBeyondViewport: true,
      clip: { x: 0, y: 0, width, height, scale: 1 },
    })
    const bytes = Buffer.from(data, 'base64')
    if (bytes.length > mostBytes) continue
    const kind = { mediaType: `image/${format}`, name: `screenshot.${format === 'png' ? 'png' : 'jpg'}` } as const
    return { bytes, ...kind, ...(cut !== undefined && { cut: `the screenshot shows ${width}×${height} px; ${cut}` }) }
  }
  return { why: `a screenshot of ${width}×${height} px has more than ${mostBytes} bytes` }
}
