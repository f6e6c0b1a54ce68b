import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Lab, must } from '@spout/testkit'

export interface Load {
  /** Requests under way at a time, each on a connection of its own. */
  readonly connections: number
  readonly seconds: number
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
}

export interface LoadResult {
  readonly answered: number
  /** Answers other than 2xx, and connections that broke. */
  readonly failed: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

let scripts = 0

/** The same request again and again, from this machine: `wrk` with a script that says what is sent. */
export async function load(lab: Lab, url: string, request: Load): Promise<LoadResult> {
  const { connections, seconds, method = 'GET', headers = {}, body } = request
  const script = path.join(lab.directory, `wrk-${scripts++}.lua`)
  const all = { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const lines = [
    `wrk.method = ${luaText(method)}`,
    ...Object.entries(all).map(([name, value]) => `wrk.headers[${luaText(name)}] = ${luaText(value)}`),
    ...(body === undefined ? [] : [`wrk.body = ${luaText(JSON.stringify(body))}`]),
    'function done(summary, latency)',
    '  local failed = summary.errors',
    '  local sum = failed.status + failed.connect + failed.read + failed.write + failed.timeout',
    '  local figures = { summary.requests, sum, summary.duration, latency:percentile(50), latency:percentile(99) }',
    '  print("figures " .. table.concat(figures, " "))',
    'end',
  ]
  writeFileSync(script, `${lines.join('\n')}\n`)
  const argv = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '60s', '-s', script, url]
  const output = await must(argv, { timeoutMs: (seconds + 90) * 1000 })
  const figures = /^figures (.*)$/m.exec(output)?.[1]?.split(' ').map(Number)
  const [requests = 0, failed = 0, micros = Number.NaN, p50 = Number.NaN, p99 = Number.NaN] = figures ?? []
  const answered = requests - failed
  return { answered, failed, perSecond: answered / (micros / 1e6), p50Ms: p50 / 1000, p99Ms: p99 / 1000 }
}

/** A text as a string of Lua, whose escapes are those of JSON for the texts that are sent here. */
const luaText = (text: string): string => JSON.stringify(text)
