import { z } from 'zod'
import type { Manifest } from '../manifest.ts'
import { parsed } from '../parsed.ts'

const pod = z.looseObject({
  containers: z.array(
    z.looseObject({
      env: z.array(z.looseObject({ name: z.string(), value: z.string().nullish() })).nullish(),
    }),
  ),
})
const SPECS = {
  DaemonSet: z.looseObject({ template: z.looseObject({ spec: pod }) }).transform(({ template }) => template.spec),
  Pod: pod,
} as const

/** Each starts a part of kube-vip. */
const STARTS = ['vip_arp', 'bgp_enable', 'svc_enable', 'cp_enable', 'vip_routingtable', 'vip_wireguard']

/** The environment of a kube-vip, which is all of its settings: a DaemonSet, or the static pod of a machine. */
export interface Program {
  readonly manifest: Manifest
  readonly env: ReadonlyMap<string, string>
}

/** Null: it runs no kube-vip. @throws BadManifests */
export function programOf(manifest: Manifest): Program | null {
  const { kind, spec } = manifest
  if (kind !== 'DaemonSet' && kind !== 'Pod') return null
  const { containers } = parsed(manifest, 'spec', SPECS[kind], spec)
  for (const { env } of containers) {
    const values = new Map((env ?? []).flatMap(({ name, value }) => (value ? [[name, value] as const] : [])))
    if (STARTS.some((name) => values.has(name))) return { manifest, env: values }
  }
  return null
}

export const isOn = ({ env }: Program, name: string): boolean => env.get(name) === 'true'
