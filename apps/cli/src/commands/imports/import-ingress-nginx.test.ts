import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { documentedCommands } from '@spout/testkit/documented-commands'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { printed } from '../../testing/printed.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-import-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const run = (...args: readonly string[]) => printed('import', 'ingress-nginx', ...args)

const written = (name: string, text: string): string => {
  const file = path.join(directory, name)
  writeFileSync(file, text)
  return file
}

/** The Ingress of docs/ingress.md. */
const SHOP = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: shop
  creationTimestamp: 2026-01-01T00:00:00Z
  annotations:
    nginx.ingress.kubernetes.io/app-root: /shop
    nginx.ingress.kubernetes.io/limit-rate: "5"
spec:
  ingressClassName: nginx
  defaultBackend: null
  tls: [{ hosts: [shop.example.com], secretName: shop-tls }]
  rules:
    - host: shop.example.com
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 80 } } } }] }
`

it('says what is taken, what differs and what would be lost, as the documentation shows it', async () => {
  const COMMAND = 'spout import ingress-nginx '
  const typed = documentedCommands('ingress.md').filter(({ command }) => command.startsWith(COMMAND))
  expect(typed).toHaveLength(1)
  for (const { command, printed } of typed) {
    const words = command.slice(COMMAND.length).split(' ')
    expect(words).toContain('shop.yaml')
    const file = written('shop.yaml', SHOP)
    const said = await run(...words.map((word) => (word === 'shop.yaml' ? file : word)))
    expect(said).toBe(`${printed.join('\n')}\n`)
    expect(await run('-f', file, '--dry-run')).toBe(said)
  }
})

it('prints Gateway API objects, also of a List of kubectl', async () => {
  const list = JSON.stringify({ kind: 'List', apiVersion: 'v1', items: [parseAllDocuments(SHOP)[0]?.toJS()] })
  const objects = parseAllDocuments(await run('-f', written('list.json', list), '--gateway-api')).map((one) =>
    one.toJS(),
  )
  expect(objects.map(({ kind }) => kind)).toEqual(['Gateway', 'HTTPRoute'])
  expect(objects[1].spec).toMatchObject({
    hostnames: ['shop.example.com'],
    rules: [
      { matches: [{ path: { type: 'Exact', value: '/' } }], filters: [{ type: 'RequestRedirect' }] },
      { backendRefs: [{ name: 'web', port: 80 }] },
    ],
  })
})

it('names file, document and field of what it cannot read', async () => {
  const ingress = (spec: string) => `kind: Ingress\nmetadata: {name: a}\nspec: ${spec}\n`
  const wrong = {
    '{rules: [{http: {paths: [{path: 7}]}}]}': 'spec.rules[0].http.paths[0].path: is no text',
    '{rules: [{http: {paths: [{path: /}]}}]}': 'spec.rules[0].http.paths[0].backend: is missing',
    '{tls: x}': 'spec.tls: is no list',
  }
  for (const [spec, why] of Object.entries(wrong)) {
    const file = written('wrong.yaml', `kind: Secret\n---\n${ingress(spec)}`)
    await expect(run('-f', file)).rejects.toThrow(`${file}, document 2 (Ingress): ${why}`)
  }
  await expect(run('-f', written('bad.yaml', 'a: [b'))).rejects.toThrow('bad.yaml, document 1: line')
  await expect(run('-f', written('none.yaml', 'kind: Secret\n'))).rejects.toThrow('there is no Ingress')
  await expect(run()).rejects.toThrow('name what to read')
  await expect(run('-f', path.join(directory, 'missing'))).rejects.toThrow('no such file')
})
