import { readFile } from 'node:fs/promises'
import { bracketed } from '@spout/net'
import type { ControlPlanePlace } from '../place.ts'

export interface ReadinessReading {
  readonly url: string
  /** Null if nobody answers. */
  readonly status: number | null
  /** Its words, or why there are none. */
  readonly text: string
}

const WITHIN_MS = 5_000

/** Asks the control plane itself for what it waits, with its own token. */
export async function readReadiness({ config }: ControlPlanePlace): Promise<ReadinessReading> {
  const { host, port, tokenFile } = config.status
  const url = `http://${bracketed(host)}:${port}/readyz`
  const token = tokenFile === '' ? '' : (await readFile(tokenFile, 'utf8').catch(() => '')).trim()
  try {
    const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(WITHIN_MS) })
    return { url, status: answer.status, text: (await answer.text()).trim() }
  } catch (error) {
    const { cause, message } = error as Error & { readonly cause?: Error }
    return { url, status: null, text: cause?.message ?? message }
  }
}
