import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type AgentReading, readAgentProcess } from '../readings/agent-process.ts'

const FINDINGS = {
  AgentStopped: {
    level: 'error',
    what: 'no agent runs with these settings',
    why: 'The node forwards what it has. Members that fail stay in use, changes do not arrive, and daemons that die stay dead.',
    fix: '`systemctl start spout-agent`',
  },
} as const satisfies Catalogue

export const judgeAgentProcess = ({ pid, stateFile }: AgentReading): readonly Found<keyof typeof FINDINGS>[] =>
  pid === null
    ? [
        {
          ...{ code: 'AgentStopped', subject: null, fix: 'systemctl start spout-agent' },
          message: `No process has ${stateFile} open.`,
        },
      ]
    : []

export const agentProcess = checkOf({
  name: 'agent',
  catalogue: FINDINGS,
  read: readAgentProcess,
  judge: judgeAgentProcess,
  right: ({ pid }) => `It runs, as process ${pid}.`,
})
