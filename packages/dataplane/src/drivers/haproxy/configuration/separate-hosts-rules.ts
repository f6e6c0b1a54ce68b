/**
 * Rules of a frontend that keeps hosts apart. Nearly all requests are for the name that their connection asked for:
 * these cost no lookup. Others are compared by `http-requests.lua` with what the map `hosts` says of the frontend.
 */
export const separateHostsRules: readonly string[] = [
  '    http-request set-var(txn.host) req.fhdr(host,1),field(1,:/),rtrim(.),lower',
  '    http-request set-var(txn.asked) ssl_fc_sni,rtrim(.),lower',
  '    http-request lua.refuse_misdirected unless { var(txn.asked),strcmp(txn.host) eq 0 }',
]
