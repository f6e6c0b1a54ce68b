import path from 'node:path'
import { runInteractive, type SystemAccess } from '@spout/testkit'
import { readState } from './state.ts'
import { ROOT, type Verb } from './verb.ts'

/** `./dev spout …` */
export const spout: Verb = {
  name: 'spout',
  usage: '…',
  summary: 'the spout command, as the administrator of the running lab unless SPOUT_TOKEN is set',
  async run(args) {
    const access = readState()?.access
    const token = process.env.SPOUT_TOKEN
    const env: Readonly<Record<string, string>> =
      access && !token ? { SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: access.admin.token } : {}
    const code = await runInteractive([process.execPath, path.join(ROOT, 'apps/cli/src/main.ts'), ...args], env)
    const hint = code === 1 && access && token ? otherIdentity(access, token) : null
    if (hint !== null) process.stderr.write(`dev: ${hint}\n`)
    return code
  },
}

/**
 * Tells why a failed command may work for the administrator: a tenant cannot see objects of others, and administrators'
 * commands are refused. Null when the administrator ran it.
 */
export function otherIdentity({ admin, projects }: SystemAccess, token: string): string | null {
  if (token === admin.token) return null
  const account = projects.find((known) => known.token === token)
  const who =
    account === undefined
      ? 'SPOUT_TOKEN belongs to no account of the lab'
      : `this ran as ${account.user} of project ${account.project}, because SPOUT_TOKEN is set`
  return `${who}; for the administrator: eval "$(./dev env --admin)", or unset SPOUT_TOKEN`
}
