-- Finds the backend of a TLS connection by the name that its client asks for (SNI, RFC 6066 section 3), whether TLS is
-- passed on or ended. HAProxy's own `req.ssl_sni` reads only the first TLS record, but a ClientHello may have several
-- (RFC 8446 section 5.1). `route-rows.ts` writes the rows; only those for all paths count here. The maps' paths are in
-- the environment, as in `http-requests.lua`.
local function map(name, compare) return Map.new(os.getenv("SPOUT_" .. name .. "_MAP"), compare) end
local backends, defaults, shares = map("BACKEND", Map._str), map("DEFAULTS", Map._str), map("SHARES", Map._str)
-- By prefix, as the rules of HTTP frontends look it up. So the process has only one tree of this map.
local paths = map("PATHS", Map._beg)

local byte, sub, unpack = string.byte, string.sub, string.unpack

-- Each piece that arrives makes all earlier ones be read again, so the number of records bounds the work.
local MOST_RECORDS = 32
local MOST_IN_RECORD = 16384
local HANDSHAKE, CLIENT_HELLO, SERVER_NAME, HOST_NAME = 22, 1, 0, 0

-- Returns the ClientHello without its header; nil if it is not complete yet. Raises an error if it is no ClientHello.
local function client_hello(data)
  local at, pieces, missing = 1, {}, nil
  for _ = 1, MOST_RECORDS do
    local kind, major = byte(data, at, at + 1)
    if kind == nil then return nil end
    if kind ~= HANDSHAKE or (major ~= nil and major ~= 3) then error("not a handshake") end
    if #data < at + 4 then return nil end
    local length = unpack(">I2", data, at + 3)
    if length == 0 or length > MOST_IN_RECORD then error("no length of a record") end
    local piece = sub(data, at + 5, at + 4 + length)
    if at == 1 and #piece > 0 and byte(piece) ~= CLIENT_HELLO then error("not a ClientHello") end
    pieces[#pieces + 1] = piece
    local all = table.concat(pieces)
    if missing == nil and #all >= 4 then missing = unpack(">I3", all, 2) + 4 end
    if missing ~= nil and #all >= missing then return sub(all, 5, missing) end
    at = at + 5 + length
  end
  error("too many records")
end

-- Returns the name that a ClientHello asks for; nil for none. Raises an error if it is malformed.
local function server_name(hello)
  local _, extensions, at
  -- Version and random.
  at = 2 + 32 + 1
  _, at = unpack(">s1", hello, at) -- session
  _, at = unpack(">s2", hello, at) -- ciphers
  _, at = unpack(">s1", hello, at) -- compression
  if at > #hello then return nil end
  extensions = unpack(">s2", hello, at)
  at = 1
  while at <= #extensions do
    local kind, content
    kind, content, at = unpack(">I2s2", extensions, at)
    if kind == SERVER_NAME then
      local names, place = unpack(">s2", content), 1
      while place <= #names do
        local type, name
        type, name, place = unpack(">Bs2", names, place)
        if type == HOST_NAME then return name end
      end
      return nil
    end
  end
  return nil
end

-- The name as keys contain it; nil for a text that is not a host name.
local function host_of(name)
  if name == nil or #name > 254 then return nil end
  local host = name:lower():match("^(.-)%.*$")
  return host:find("^[a-z0-9_.-]+$") and host or nil
end

-- The row of the narrowest class of hosts that has one. The order: the name itself, the name without its first label,
-- the names without further labels (the longest first), all hosts.
local function row_of(frontend, host)
  local function row(class) return paths:lookup(frontend .. "/" .. class .. "/") end
  local function behind_label(name) return name:match("^[^.]*%.(.+)$") end
  if host ~= nil then
    local behind = behind_label(host)
    local found = row(host) or (behind and row("1:" .. behind))
    while found == nil and behind ~= nil do
      found, behind = row("n:" .. behind), behind_label(behind)
    end
    if found ~= nil then return found end
  end
  return row(":") or "default"
end

local function target_of(txn, host)
  local frontend = txn.f:fe_name()
  local target = backends:lookup(frontend)
  if target == nil or sub(target, 1, 6) ~= "routes" then return target end
  target = row_of(frontend, host)
  if sub(target, 1, 1) == "w" then
    local share = frontend .. "/" .. target .. "/"
    local size = shares:lookup(share .. "size")
    target = size and shares:lookup(share .. txn.f:rand(tonumber(size)))
  end
  if target == "default" then return defaults:lookup(frontend) end
  return target
end

-- The backend of a connection whose TLS is passed on. `none`: no route matches the name. `wait`: the ClientHello is not
-- complete yet. `junk`: the bytes are no ClientHello.
core.register_fetches("target_of_hello", function(txn)
  local data = txn.f:req_payload(0, 0)
  if data == nil then return "wait" end
  local begun, hello = pcall(client_hello, data)
  if not begun then return "junk" end
  if hello == nil then return "wait" end
  local valid, name = pcall(server_name, hello)
  if not valid then return "junk" end
  return target_of(txn, host_of(name)) or "none"
end)

-- The backend of a connection whose TLS is ended here. `none`: no route matches the name.
core.register_fetches("target_of_name", function(txn)
  return target_of(txn, host_of(txn.f:ssl_fc_sni())) or "none"
end)

-- The fatal alert `unrecognized_name` (RFC 6066 section 3), as a record of TLS 1.2.
core.register_service("refuse_name", "tcp", function(applet)
  applet:send("\x15\x03\x03\x00\x02\x02\x70")
end)
