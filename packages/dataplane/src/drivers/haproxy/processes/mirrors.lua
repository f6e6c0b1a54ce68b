-- Sends copies of requests to the mirrors of a route. The rows of the map `mirrors` name the backends and the part of
-- the requests that each gets. Copies go to the frontend of `mirrors.ts`. A task of its own sends each copy, so that no
-- client waits for it.
local mirrors = Map.new(os.getenv("SPOUT_MIRRORS_MAP"), Map._str)

-- Most copies under way: in all, and to one backend. So a slow mirror leaves room for others.
local MOST, MOST_TO_ONE = 128, 32
-- Most bytes of a body that is copied. With the header it must fit into one buffer.
local MOST_BYTES = 15000
-- A copy ends after this time, or when this many bytes of its response have been read.
local WITHIN_S, MOST_READ = 10, 1000000

local under_way, to_backend, not_made = 0, {}, 0

-- Sets `txn.copies` to the backends that get a copy of the request, each after a space. Leaves it unset for none.
core.register_action("choose_mirrors", { "http-req" }, function(txn)
  local f = txn.f
  -- A copy is not copied again: mirrors that lead to each other would never end.
  if f:req_fhdr("x-spout-mirrored") ~= nil then return end
  local key = f:fe_name() .. "/" .. txn:get_var("txn.mirrors") .. "/"
  local chosen, at = "", 0
  while true do
    local part = mirrors:lookup(key .. at .. "/part")
    if part == nil then break end
    if f:rand(1000000) < tonumber(part) then
      local backend = mirrors:lookup(key .. at)
      if backend ~= nil and backend ~= "none" then chosen = chosen .. " " .. backend end
    end
    at = at + 1
  end
  if chosen == "" then return end
  local length = f:req_fhdr("content-length")
  local is_whole = length ~= nil and tonumber(length) <= MOST_BYTES
    or length == nil and f:req_fhdr("transfer-encoding") == nil and (f:req_ver() ~= "2.0" or own_requests.has_no_body(f:method()))
  if not is_whole or f:req_fhdr("upgrade") ~= nil or f:method() == "CONNECT" then
    not_made = not_made + 1
    return
  end
  txn:set_var("txn.copies", chosen)
end)

local function send(text)
  local socket = core.tcp()
  socket:settimeout(WITHIN_S)
  local until_s, left = core.now().sec + WITHIN_S, MOST_READ
  if socket:connect(own_requests.socket) and socket:send(text) then
    while left > 0 and core.now().sec < until_s do
      if socket:receive(4096) == nil then break end
      left = left - 4096
    end
  end
  socket:close()
end

local function copy_to(backend, head, rest)
  if under_way >= MOST or (to_backend[backend] or 0) >= MOST_TO_ONE then
    not_made = not_made + 1
    return
  end
  under_way, to_backend[backend] = under_way + 1, (to_backend[backend] or 0) + 1
  core.register_task(function()
    pcall(send, head .. own_requests.backend_line(backend) .. "\r\n" .. rest)
    local others = to_backend[backend] - 1
    under_way, to_backend[backend] = under_way - 1, others > 0 and others or nil
  end)
end

core.register_action("copy_request", { "http-req" }, function(txn)
  local f = txn.f
  local length, body = f:req_fhdr("content-length"), f:req_body() or ""
  -- Not all of the body fitted into the buffer beside the header.
  if #body ~= tonumber(length or 0) then
    not_made = not_made + 1
    return
  end
  local lines = { own_requests.proxy_line(f) .. f:method() .. " " .. (f:pathq() or "*") .. " HTTP/1.1" }
  for name, values in pairs(txn.http:req_get_headers()) do
    if not own_requests.is_left_out(name) then
      for at = 0, #values do lines[#lines + 1] = name .. ": " .. values[at] end
    end
  end
  lines[#lines + 1] = "x-spout-mirrored: 1\r\nconnection: close"
  lines[#lines + 1] = own_requests.name_line(txn)
  if length ~= nil then lines[#lines + 1] = "content-length: " .. #body end
  local head, rest = table.concat(lines, "\r\n") .. "\r\n", "\r\n" .. body
  for backend in txn:get_var("txn.copies"):gmatch("%S+") do copy_to(backend, head, rest) end
end)

core.register_cli({ "show", "mirrors" }, "show mirrors: copies under way, their limit, and those that were not made", function(applet)
  applet:send(("%d %d %d\n"):format(under_way, MOST, not_made))
end)
