import path from 'node:path'
import { bundled, PRODUCT_ENVIRONMENT, run, type SystemAccess } from '@spout/testkit'

const MAIN = bundled(path.join(import.meta.dirname, '../main.ts'))

/** Runs the command as people run it, against a control plane. */
export const spoutAs = (
  { endpoint }: Pick<SystemAccess, 'endpoint'>,
  token: string,
  words: readonly string[],
): ReturnType<typeof run> =>
  run([process.execPath, MAIN, ...words], {
    env: { ...PRODUCT_ENVIRONMENT, SPOUT_ENDPOINT: endpoint, SPOUT_TOKEN: token, NO_COLOR: '1' },
  })
