import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')
const TELL_LOADED = `import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context)) })
process.on('exit', () => process.stderr.write(process.moduleLoadList.join('\\n')))`

/** The modules that a program loads at its start. Parts that only some installations use must be loaded only there. */
async function loadedBy(program: string, ...args: readonly string[]): Promise<readonly string[]> {
  const hook = `data:text/javascript,${encodeURIComponent(TELL_LOADED)}`
  const argv = ['--import', hook, path.join(ROOT, program), ...args]
  const { stderr } = await promisify(execFile)(process.execPath, argv, { maxBuffer: 1024 ** 3 })
  return stderr.split('\n').filter((line) => /^(file:|NativeModule )/.test(line))
}

it.each([
  ['apps/control-plane/src/main.ts', '--print-config'],
  ['apps/cli/src/main.ts', '--help'],
])('%s loads the client of the Kubernetes API only when it is asked to use it', async (program, argument) => {
  const loaded = await loadedBy(program, argument)
  expect(loaded.filter((url) => url.endsWith(program))).toHaveLength(1)
  expect(
    loaded.filter((url) =>
      /\/packages\/(kube|connector|custom-resources|kubernetes-manifests|intents\/kubernetes-config)\//.test(url),
    ),
  ).toEqual([])
})

it('the agent loads neither schemas nor their library nor the YAML parser: every node would pay for them', async () => {
  const loaded = await loadedBy('apps/agent/src/main.ts', '--print-config')
  expect(loaded.filter((url) => url.endsWith('apps/agent/src/main.ts'))).toHaveLength(1)
  expect(loaded.filter((url) => /\/packages\/model\/src\/index\.ts$|\/node_modules\/(zod|yaml)\//.test(url))).toEqual(
    [],
  )
})

it.each(['agent', 'control-plane'])(
  'the %s does not load undici, which takes 80 ms and which only `fetch` needs',
  async (app) => {
    const loaded = await loadedBy(`apps/${app}/src/main.ts`, '--print-config')
    expect(loaded).toContain('NativeModule http')
    expect(loaded.filter((module) => module.includes('undici'))).toEqual([])
  },
)

it('the control plane loads the client of OpenID Connect when somebody logs in by it', async () => {
  const loaded = await loadedBy('apps/control-plane/src/main.ts', '--print-config')
  expect(loaded.filter((url) => url.endsWith('/packages/server/src/openid/openid-provider.ts'))).toHaveLength(1)
  expect(loaded.filter((url) => /\/node_modules\/(openid-client|oauth4webapi|jose)\//.test(url))).toEqual([])
})

it('a command loads the planner only to plan', async () => {
  const loaded = await loadedBy('apps/cli/src/main.ts', '--help')
  expect(loaded.filter((url) => url.includes('/apps/cli/src/commands/plan/plan.ts'))).toHaveLength(1)
  expect(loaded.filter((url) => url.includes('/packages/plan/'))).toEqual([])
})
