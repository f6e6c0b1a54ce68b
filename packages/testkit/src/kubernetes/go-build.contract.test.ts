import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../lab/run.ts'
import { waitFor } from '../lab/wait-for.ts'
import { builtDirectory, ensureGoBuild, type GoBuild, LONGEST_BUILD_MS } from './go-build.ts'

let directory: string

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-go-build-'))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A module that needs nothing but the standard library. */
function moduleOf(name: string, source: string): GoBuild {
  const sources = path.join(directory, name, 'sources')
  mkdirSync(path.join(sources, 'hello'), { recursive: true })
  writeFileSync(path.join(sources, 'go.mod'), 'module spout.invalid/hello\n\ngo 1.26.0\n')
  writeFileSync(path.join(sources, 'hello', 'main.go'), source)
  const cache = path.join(directory, name, 'cache')
  return { sources, cache, packages: ['./...'], linkerFlags: ['-X main.said=hello'], announcement: 'Building hello.' }
}

const HELLO = 'package main\n\nvar said string\n\nfunc main() { print(said) }\n'
/** It prints the path of the module that it was built as. */
const NAMES_ITSELF = `package main

import (
	"os"
	"runtime/debug"
)

func main() {
	info, _ := debug.ReadBuildInfo()
	os.Stdout.WriteString(info.Main.Path)
}
`
const say = () => {}

describe('a build of Go programs', { timeout: LONGEST_BUILD_MS }, () => {
  it('is made once for callers at the same time, and not again', async () => {
    const build = moduleOf('once', HELLO)
    const said: string[] = []
    const all = await Promise.all([1, 2, 3].map(() => ensureGoBuild(build, { say: (line) => said.push(line) })))
    expect(new Set(all)).toEqual(new Set([builtDirectory(build)]))
    expect(said).toContain('Building hello.')
    expect(readdirSync(build.cache).toSorted()).toEqual([path.basename(all[0] ?? ''), 'lock'].toSorted())
    await expect(must([path.join(all[0] ?? '', 'hello')])).resolves.toBe('')
    await ensureGoBuild(build, { say: (line) => expect.unreachable(line) })
  })

  it('is another one when a source changes', () => {
    const before = builtDirectory(moduleOf('changes', HELLO))
    expect(builtDirectory(moduleOf('changes', `${HELLO}\n// changed\n`))).not.toBe(before)
  })

  it('reads another file in place of go.mod when asked, which makes another build', async () => {
    const usual = moduleOf('other-file', NAMES_ITSELF)
    writeFileSync(path.join(usual.sources, 'go-other.mod'), 'module spout.invalid/other\n\ngo 1.26.0\n')
    const other = { ...usual, moduleFile: 'go-other.mod' }
    expect(builtDirectory(other)).not.toBe(builtDirectory(usual))
    const said = async (build: GoBuild) => must([path.join(await ensureGoBuild(build, { say }), 'hello')])
    expect([await said(usual), await said(other)]).toEqual(['spout.invalid/hello', 'spout.invalid/other'])
  })

  it('reports the compiler’s error, and leaves no finished build', async () => {
    const build = moduleOf('wrong', 'package main\n\nfunc main() { nothing() }\n')
    await expect(ensureGoBuild(build, { say })).rejects.toThrow('undefined: nothing')
    expect(readdirSync(build.cache)).toEqual(['lock'])
  })

  it('is made anew after one that was killed in its midst', async () => {
    const build = moduleOf('killed', HELLO)
    mkdirSync(build.cache, { recursive: true })
    const { sources, packages, linkerFlags } = build
    const order = JSON.stringify({ sources, target: builtDirectory(build), packages, linkerFlags })
    const program = path.join(import.meta.dirname, 'build-program.ts')
    const argv = ['--no-fork', path.join(build.cache, 'lock'), process.execPath, program, order]
    const killed = spawn('flock', argv, { detached: true, stdio: 'ignore' })
    await waitFor(() => readdirSync(build.cache).some((name) => name.startsWith('unfinished-')), {
      what: 'the build to be under way',
    })
    process.kill(-(killed.pid ?? 0), 'SIGKILL')
    await ensureGoBuild(build, { say })
    expect(existsSync(path.join(builtDirectory(build), 'hello'))).toBe(true)
    expect(readdirSync(build.cache).filter((name) => name.startsWith('unfinished-'))).toEqual([])
  })
})
