import path from 'node:path'
import { runInteractive } from '@spout/testkit'
import { requireUp } from './state.ts'
import { pageOf } from './story/page.ts'
import { ROOT, UsageError, type Verb } from './verb.ts'

/** `./dev ui` */
export const ui: Verb = {
  name: 'ui',
  usage: '',
  summary: 'serves the web page from its sources, which changes as they do, before the running control plane',
  details: `Prints its address. What the page asks for is passed on to the control plane of ./dev up; the logins are the same. Ctrl-C ends it.`,
  async run(args) {
    if (args.length > 0) throw new UsageError(`there is no option ${args[0]}`)
    const { access } = requireUp().state
    for (const { user, password, project } of pageOf(access).logins)
      process.stdout.write(`user ${user}, password ${password}, project ${project}\n`)
    const vite = path.join(ROOT, 'node_modules/vite/bin/vite.js')
    return runInteractive([process.execPath, vite, path.join(ROOT, 'apps/dashboard')], {
      SPOUT_ENDPOINT: access.endpoint,
    })
  },
}
