import type { AgentFigures } from '@spout/agent'
import type { StatusServer } from '@spout/runtime/status-server'
import { expect, onTestFinished, test } from 'vitest'
import { agentConfig } from './config.ts'
import { agentMetrics } from './metrics.ts'

const FIGURES: AgentFigures = {
  inSync: true,
  entries: { programmed: 3, failed: 1 },
  members: { up: 5, down: 2, unknown: 0 },
  shards: { master: 1, backup: 3, fault: 0, stopped: 0 },
  bgpSessions: { established: 2, down: 0 },
  reports: { arrived: 7, failed: 1 },
  lastReportAtMs: 1_500,
  transactions: 11,
  reloads: 2,
  shares: { packets: { refused: 12, mostUsed: 0.25, over: 1 } },
}

async function serve(listen: string, figures = () => FIGURES): Promise<StatusServer> {
  const metrics = agentMetrics({
    ...{ listen, tokenFile: '', figures },
    proxies: () => ({ shared: 3, dedicated: 2 }),
    requestLines: () => ({ read: 9, dropped: 4, ignored: 1 }),
    accessLogLines: () => ({ taken: 8, lost: 3 }),
    syslogMessages: () => ({ sent: 7, lost: 6 }),
  })
  await metrics.start()
  onTestFinished(() => metrics.stop())
  return metrics
}

test.each(['127.0.0.1', '[::1]'])('metrics are served on %s, and nothing else', async (host) => {
  const { port } = await serve(`${host}:0`)
  const answer = await fetch(`http://${host}:${port}/metrics`)
  expect(answer.headers.get('content-type')).toContain('text/plain')
  const lines = (await answer.text()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'spout_agent_in_sync 1',
      'spout_agent_entries{state="failed"} 1',
      'spout_agent_members{health="down"} 2',
      'spout_agent_shards{state="master"} 1',
      'spout_agent_bgp_sessions{state="established"} 2',
      'spout_agent_reports_total{result="arrived"} 7',
      'spout_agent_last_report_timestamp_seconds 1.5',
      'spout_agent_transactions_total 11',
      'spout_agent_reloads_total 2',
      'spout_agent_proxies{kind="dedicated"} 2',
      'spout_agent_request_lines_total{result="dropped"} 4',
      'spout_agent_access_log_lines_total{result="lost"} 3',
      'spout_agent_syslog_messages_total{result="lost"} 6',
    ]),
  )
  for (const name of ['process_resident_memory_bytes', 'process_cpu_seconds_total'])
    expect(Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1])).toBeGreaterThan(0)
  expect((await fetch(`http://${host}:${port}/`)).status).toBe(404)
  expect((await fetch(`http://${host}:${port}/metrics`, { method: 'POST' })).status).toBe(404)
})

test('an agent is ready when its node has everything and can take over', async () => {
  let figures: AgentFigures = { ...FIGURES, inSync: false }
  const { port } = await serve('127.0.0.1:0', () => figures)
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
    return [answer.status, await answer.text()]
  }
  expect(await ask()).toEqual([
    503,
    "the node's state has not arrived from the control plane, or was not applied yet\n",
  ])
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  figures = { ...FIGURES, shards: { master: 0, backup: 2, fault: 0, stopped: 2 } }
  expect(await ask()).toEqual([503, '2 VRRP shards are not running\n'])
  figures = FIGURES
  expect(await ask()).toEqual([200, 'ok\n'])
})

test('the setting: nowhere by default, an address and a port', () => {
  expect(agentConfig.parse({}).metrics.listen).toBe('')
  const accepted = (listen: string, tokenFile = '/run/token') =>
    agentConfig.safeParse({ metrics: { listen, tokenFile } }).success
  for (const good of ['127.0.0.1:9132', '0.0.0.0:9132', '[::1]:9132', '[2001:db8::1]:80'])
    expect(accepted(good)).toBe(true)
  for (const bad of ['9132', ':9132', 'localhost:9132', '::1:9132', '127.0.0.1', '127.0.0.1:0', '1.2.3.4:99999x'])
    expect(accepted(bad)).toBe(false)
  for (const loopback of ['127.0.0.1:9132', '[::1]:9132']) expect(accepted(loopback, '')).toBe(true)
})

test.each(['0.0.0.0:9132', '198.51.100.2:9132', '[2001:db8::1]:80', '[::]:9132'])(
  '%s is beyond loopback: the start is refused without a token',
  (listen) => {
    const parsed = agentConfig.safeParse({ metrics: { listen } })
    expect(parsed.error?.issues[0]).toMatchObject({
      path: ['metrics', 'tokenFile'],
      message: expect.stringMatching(/metrics\.listen is beyond loopback/),
    })
  },
)
