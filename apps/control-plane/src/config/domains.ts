import { HOST_RULES } from '@spout/admission'
import { dnsTtlSeconds } from '@spout/model'
import { z } from 'zod'
import { dnsZone } from '../dns-zones.ts'
import { resolverAddress } from '../resolver-address.ts'
import { section } from './section.ts'

/** Domains of projects. */
export const domainsSection = section({
  /**
   * The hosts that routes of a project may name: `any`; `unclaimed`: all but those below the domain of another
   * project; `own`: only those below its own.
   */
  hosts: z.enum(HOST_RULES).default('unclaimed'),
  /** Resolvers that are asked for the records which prove domains, with ports if not 53. None: nobody proves any. */
  resolvers: z.array(resolverAddress).max(8).default([]),
  /** How often the record of a proven domain is looked for again. */
  recheckSeconds: z.number().int().min(1).max(604_800).default(3600),
  /** How long a proven domain may miss its record before it is lost. */
  graceSeconds: z.number().int().min(0).max(7_776_000).default(259_200),
  /** Checks of one project, those that the tenant asks for included. */
  checksPerMinute: z.number().int().min(1).max(6000).default(30),
}).prefault({})

/** Names of load balancers, published by dynamic update. */
export const dnsSection = section({
  zones: z
    .array(dnsZone)
    .max(100)
    .refine((zones) => new Set(zones.map(({ name }) => name)).size === zones.length, 'names a zone twice')
    .default([]),
  /**
   * The name of this control plane in ownership records. Each control plane that publishes into a zone needs another
   * one.
   */
  owner: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,63}$/, 'is not 1 to 63 letters, digits, dots, hyphens and underscores')
    .default('spout'),
  /** How long resolvers may keep an answer, where the load balancer does not say. */
  ttlSeconds: dnsTtlSeconds.default(300),
  /** How often each zone is searched for records that nobody wants any more and for missing ones. */
  sweepSeconds: z.number().int().min(1).max(86_400).default(600),
}).prefault({})
