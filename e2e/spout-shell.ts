import path from 'node:path'
import { bundled, type PageShell, PRODUCT_ENVIRONMENT, pageShell, type TestSystem } from '@spout/testkit'

const PROGRAM = bundled(path.join(import.meta.dirname, '../apps/cli/src/main.ts'))

/** A shell in the lab's directory whose `spout` speaks for the owner of the token. */
export const spoutShell = ({ lab, access }: Pick<TestSystem, 'lab' | 'access'>, token: string): PageShell =>
  pageShell({
    ...{ directory: lab.directory, lab, programs: { spout: [process.execPath, PROGRAM] } },
    env: { ...PRODUCT_ENVIRONMENT, SPOUT_ENDPOINT: access.endpoint, SPOUT_TOKEN: token },
  })
