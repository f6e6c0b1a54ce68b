import { chmodSync, globSync } from 'node:fs'
import path from 'node:path'
import { must, run } from '../lab/run.ts'

/** Kubernetes needs a Go of this minor version or newer; if there is none, the exact one below is fetched. */
const LEAST_MINOR = 26
const FETCHED = '1.26.8'

type Say = (line: string) => void

/**
 * Path of a Go that can build the test bed. If the machine's Go is too old, it fetches the toolchain as a Go module; if
 * there is no Go, Debian's is installed for that.
 */
export async function ensureGo(say: Say): Promise<string> {
  const minor = await minorVersion('go')
  if (minor !== null && minor >= LEAST_MINOR) return 'go'
  if (minor === null) {
    say('Go is not installed: installing the Debian package golang-go with apt-get, which fetches a newer Go.')
    await must(['apt-get', 'update', '-qq'], { timeoutMs: 300_000 })
    await must(['apt-get', 'install', '-y', '-qq', '--no-install-recommends', 'golang-go', 'ca-certificates'], {
      timeoutMs: 600_000,
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  return fetchToolchain('go', say)
}

async function minorVersion(go: string): Promise<number | null> {
  const { code, stdout } = await run([go, 'version'], { env: { GOTOOLCHAIN: 'local' } })
  const minor = /go1\.(\d+)/.exec(stdout)?.[1]
  return code === 0 && minor !== undefined ? Number(minor) : null
}

/** @returns path of the fetched `go` */
async function fetchToolchain(go: string, say: Say): Promise<string> {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const module = `golang.org/toolchain@v0.0.1-go${FETCHED}.linux-${architecture}`
  say(`Fetching Go ${FETCHED} (${module}): the Go of this machine is too old to build Kubernetes.`)
  const answer = await must([go, 'mod', 'download', '-json', module], {
    timeoutMs: 600_000,
    env: { GO111MODULE: 'on', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOWORK: 'off' },
  })
  const { Dir: directory } = JSON.parse(answer) as { Dir: string }
  // Modules are unpacked without execute permission.
  for (const file of globSync(['bin/*', 'pkg/tool/*/*'], { cwd: directory }))
    chmodSync(path.join(directory, file), 0o755)
  return path.join(directory, 'bin', 'go')
}
