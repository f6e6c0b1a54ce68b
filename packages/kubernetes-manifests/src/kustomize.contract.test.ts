import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ensureKubernetes, LONGEST_BUILD_MS, must } from '@spout/testkit'
import { beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { IMAGE } from './in-cluster/names.ts'
import type { KubernetesObject } from './in-cluster/pod.ts'

const DEPLOY = path.join(import.meta.dirname, '../../../deploy')

let kubectl: readonly string[]
beforeAll(async () => {
  kubectl = (await ensureKubernetes()).kubectl
}, LONGEST_BUILD_MS)

const byKey = (text: string): Readonly<Record<string, KubernetesObject>> =>
  Object.fromEntries(
    parseAllDocuments(text)
      .map((document) => document.toJS() as KubernetesObject)
      .map((object) => [`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, object]),
  )
const kustomized = async (folder: string) => byKey(await must([...kubectl, 'kustomize', path.join(DEPLOY, folder)]))
const installation = readFileSync(path.join(DEPLOY, 'kubernetes/spout.yaml'), 'utf8')

it('the base for kustomize is spout.yaml', async () => {
  expect(await kustomized('kubernetes')).toEqual(byKey(installation))
})

it('the example of an overlay changes what it says', async () => {
  const images = installation.replaceAll(`image: ${IMAGE}`, `image: registry.example.net/${IMAGE}`)
  const expected = byKey(images)
  const agent = expected['DaemonSet spout/agent'] as never as {
    readonly spec: { readonly template: { readonly spec: { readonly nodeSelector: Record<string, string> } } }
  }
  agent.spec.template.spec.nodeSelector['example.net/edge'] = 'true'
  expect(await kustomized('kustomize/example')).toEqual(expected)
})
