import path from 'node:path'
import { runInteractive } from '@spout/testkit'
import { readState } from './state.ts'
import { ROOT, type Verb } from './verb.ts'

/** `./dev spout …` */
export const spout: Verb = {
  name: 'spout',
  usage: '…',
  summary: 'the spout command, as the administrator of what is up unless SPOUT_TOKEN says otherwise',
  run(args) {
    const access = readState()?.access
    const env: Readonly<Record<string, string>> =
      access && !process.env.SPOUT_TOKEN ? { SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: access.admin.token } : {}
    return runInteractive([process.execPath, path.join(ROOT, 'apps/cli/src/main.ts'), ...args], env)
  },
}
