import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  type Account,
  bundled,
  callApi,
  Lab,
  type PageShell,
  PRODUCT_ENVIRONMENT,
  pageShell,
  type ShownLoadBalancer,
  type SystemAccess,
  waitFor,
} from '@spout/testkit'
import { openstackEnv } from '../../tools/dev/env.ts'
import type { DevState } from '../../tools/dev/state.ts'

const PROGRAM = bundled(path.join(import.meta.dirname, '../../apps/cli/src/main.ts'))

/** The lab that `./dev up` has made, and who types in it. */
export interface Demo {
  readonly lab: Lab
  readonly access: SystemAccess
  /** Where commands run; it is their home, too. */
  readonly directory: string
  /** Somebody who has only run `./dev up`: `./dev spout` is the administrator's. */
  readonly asAdministrator: PageShell
  /** Somebody who has typed `eval "$(./dev env)"` before. */
  readonly asTenant: PageShell
  /** The demo project's user. */
  readonly tenant: Account
}

/** @param stateFile what `./dev up` recorded */
export function openDemo(stateFile: string): Demo {
  const { labId, access } = JSON.parse(readFileSync(stateFile, 'utf8')) as DevState
  const lab = Lab.open(labId)
  const [tenant] = access.projects
  if (lab === null || tenant === undefined) throw new Error('./dev up has made no lab')
  const directory = path.join(lab.directory, 'reader')
  mkdirSync(directory, { recursive: true })
  const accountOf = ({ token }: Account) => ({ SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: token })
  const asAdministrator = pageShell({
    ...{ directory, lab, programs: { spout: [process.execPath, PROGRAM] } },
    env: { ...PRODUCT_ENVIRONMENT, ...accountOf(access.admin), HOME: directory },
    exports: { ...openstackEnv(access.endpoint, tenant), ...accountOf(tenant) },
  })
  const asTenant: PageShell = (command, input) => asAdministrator(`eval "$(./dev env)"\n${command}`, input)
  return { lab, access, directory, asAdministrator, asTenant, tenant }
}

export const named = async ({ access, tenant }: Demo, name: string): Promise<ShownLoadBalancer> => {
  const { items } = await callApi<{ items: readonly ShownLoadBalancer[] }>(
    ...([access.endpoint, tenant.token, 'GET', `/load-balancers?name=${name}`] as const),
  )
  const [found] = items
  if (found === undefined) throw new Error(`${tenant.project} has no load balancer ${name}`)
  return found
}

/** The id of the pool of public addresses. */
export async function publicPool({ access, tenant }: Demo): Promise<string> {
  const { items } = await callApi<{ items: readonly { readonly id: string; readonly name: string }[] }>(
    ...([access.endpoint, tenant.token, 'GET', '/address-pools'] as const),
  )
  return items.find(({ name }) => name === 'public')?.id ?? ''
}

/** Waits until the newest change is on the node that carries it. */
export const active = (demo: Demo, name: string): Promise<ShownLoadBalancer> =>
  waitFor(
    async () => {
      const shown = await named(demo, name)
      return shown.status.provisioning === 'active' && shown
    },
    { what: `load balancer ${name} to be active` },
  )
