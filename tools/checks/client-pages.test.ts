import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const ROOT = path.resolve(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
const pinned = (bed: string, module: string): string => {
  const line = read(`testbed/${bed}/go.mod`)
    .split('\n')
    .find((text) =>
      text
        .replace(/^require/, '')
        .trim()
        .startsWith(`${module} `),
    )
  return line?.replace(/.* (v\S+).*/, '$1') ?? 'no version'
}

// A page must name the version that the tests build and run.
it.each([
  ['gophercloud', 'unmodified gophercloud', 'gophercloud', 'github.com/gophercloud/gophercloud/v2'],
  [
    ...['cloud-provider-openstack', 'unmodified binary of', 'cloud-provider-openstack'],
    'k8s.io/cloud-provider-openstack',
  ],
  [...['terraform', 'Provider', 'opentofu'], 'github.com/terraform-provider-openstack/terraform-provider-openstack/v3'],
  ['terraform', 'by OpenTofu', 'opentofu', 'github.com/opentofu/opentofu'],
] as const)('%s.md: %s is the version of testbed/%s', (page, words, bed, module) =>
  expect(read(`docs/clients/${page}.md`)).toContain(`${words} ${pinned(bed, module)}`),
)
