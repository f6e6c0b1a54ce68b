import { type Catalogue, checkOf, type Found, runbook } from '@spout/runtime/findings'
import { type ReadinessReading, readReadiness } from '../readings/readiness.ts'

const FINDINGS = {
  ControlPlaneStopped: {
    level: 'error',
    what: 'no control plane answers on its status port',
    why: 'Nothing is planned and nothing is taken. Nodes go on with what they have.',
    fix: '`systemctl start spout-control-plane`',
  },
  NotReady: {
    level: 'error',
    what: 'the control plane says what it waits for: its store, a leader, the planner, nodes',
    why: 'Until then changes are refused, or reach no node.',
    fix: 'the section of the runbook: "The store takes no writes", "Nobody leads", "Nothing is planned", "A node is disconnected"',
  },
} as const satisfies Catalogue

/** Where the runbook speaks of each condition of `/readyz`. */
const SECTIONS: Readonly<Record<string, string>> = {
  store: 'The store takes no writes',
  leader: 'Nobody leads',
  planner: 'Nothing is planned',
  'data-plane': 'A node cannot do an entry',
  nodes: 'A node is disconnected',
}

export function judgeReadiness({ url, status, text }: ReadinessReading): readonly Found<keyof typeof FINDINGS>[] {
  if (status === null)
    return [
      {
        ...{ code: 'ControlPlaneStopped', subject: url, message: `${text}.` },
        fix: 'systemctl start spout-control-plane; journalctl -u spout-control-plane',
      },
    ]
  if (status === 200) return []
  return text.split('\n').map((line) => {
    const name = line.slice(0, Math.max(0, line.indexOf(':')))
    const section = SECTIONS[name]
    const fix = section === undefined ? 'journalctl -u spout-control-plane' : runbook(section)
    return {
      code: 'NotReady',
      subject: name || null,
      message: `${line.slice(name === '' ? 0 : name.length + 2)}.`,
      fix,
    }
  })
}

export const readiness = checkOf({
  name: 'readiness',
  catalogue: FINDINGS,
  read: readReadiness,
  judge: judgeReadiness,
  right: ({ url, text }) => `${url} says that it is ready${text.startsWith('ok: ') ? `, and ${text.slice(4)}` : ''}.`,
})
