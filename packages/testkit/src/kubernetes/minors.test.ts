import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { requiredVersion, testbedModule } from './build.ts'
import { chosenMinor, MODULE_FILES, USUAL_MINOR } from './minors.ts'

const { sources } = testbedModule('kubernetes')

describe('the minor version of Kubernetes that tests run', () => {
  it('is the usual one unless another one is asked for', () => {
    expect([undefined, '', '1.35'].map(chosenMinor)).toEqual([USUAL_MINOR, USUAL_MINOR, '1.35'])
  })

  it('is refused, with those that there are, when it is none of them', () => {
    for (const asked of ['1.12', '1.35.4', 'v1.35', 'toString'])
      expect(() => chosenMinor(asked)).toThrow(`SPOUT_KUBERNETES: ${asked} is none of 1.36, 1.35`)
  })

  it.each(Object.entries(MODULE_FILES))('%s: every module of Kubernetes is of one patch of it', (minor, moduleFile) => {
    const version = requiredVersion(sources, 'k8s.io/kubernetes', moduleFile)
    expect(version).toMatch(new RegExp(`^v${minor.replace('.', '\\.')}\\.\\d+$`))
    const replaced = readFileSync(path.join(sources, moduleFile), 'utf8').match(/=> k8s\.io\/\S+ \S+/g) ?? []
    expect(replaced.length).toBeGreaterThan(30)
    expect(new Set(replaced.map((line) => line.split(' ').at(-1)))).toEqual(new Set([version.replace('v1', 'v0')]))
  })
})
