/** The examples of the specification, word for word. */

export const DATA_MODEL = {
  stdio: `tools:
  - name: filesystem
    type: mcp
    server: "@modelcontextprotocol/server-filesystem"
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem"]
    config:
      allowed_directories: ["/workspace/data"]
`,
  sse: `tools:
  - name: remote_api
    type: mcp
    server: "my-mcp-server"
    transport: sse
    url: "https://mcp.example.com/sse"
    headers:
      Authorization: "Bearer \${API_TOKEN}"
    timeout: 30
    sse_read_timeout: 120
`,
  websocket: `tools:
  - name: realtime
    type: mcp
    server: "realtime-server"
    transport: websocket
    url: "wss://mcp.example.com/ws"
`,
  http: `tools:
  - name: streaming_api
    type: mcp
    server: "streaming-server"
    transport: http
    url: "https://mcp.example.com/stream"
    terminate_on_close: true
`,
};

export const CONTRACT = {
  filesystem: `tools:
  - name: files
    description: "Read and write files in workspace"
    type: mcp
    server: "@modelcontextprotocol/server-filesystem"
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem"]
    config:
      allowed_directories:
        - "\${workspaceFolder}/data"
        - "\${workspaceFolder}/output"
`,
  github: `tools:
  - name: github
    description: "GitHub repository operations"
    type: mcp
    server: "@modelcontextprotocol/server-github"
    command: npx
    args: ["-y", "@modelcontextprotocol/server-github"]
    env:
      GITHUB_TOKEN: "\${GITHUB_TOKEN}"
    config:
      repositories:
        - "owner/repo"
`,
  database: `tools:
  - name: postgres
    description: "PostgreSQL database queries"
    type: mcp
    server: "@modelcontextprotocol/server-postgres"
    command: npx
    args: ["-y", "@modelcontextprotocol/server-postgres"]
    env:
      DATABASE_URL: "\${DATABASE_URL}"
`,
  python: `tools:
  - name: python_mcp
    description: "Python MCP server via uvx"
    type: mcp
    server: "mcp-server-fetch"
    command: uvx
    args: ["mcp-server-fetch"]
    env:
      CUSTOM_CONFIG: "\${CUSTOM_CONFIG}"
`,
  docker: `tools:
  - name: docker_mcp
    description: "Containerized MCP server"
    type: mcp
    server: "mcp-server-custom"
    command: docker
    args: ["run", "--rm", "-i", "mcp-server:latest"]
    env:
      API_KEY: "\${API_KEY}"
`,
  cloud: `tools:
  - name: cloud_api
    description: "Cloud AI service via MCP"
    type: mcp
    server: "cloud-ai-mcp"
    transport: sse
    url: "https://api.example.com/mcp/sse"
    headers:
      Authorization: "Bearer \${CLOUD_API_KEY}"
      X-Request-ID: "holodeck-agent"
    timeout: 10
    sse_read_timeout: 300
    request_timeout: 120
`,
};

/** The specification's sections, one for each transport, and the legacy form. */
export const SECTIONS = {
  stdio: `tools:
  - name: filesystem
    description: "File system operations via MCP"
    type: mcp
    server: "@modelcontextprotocol/server-filesystem"
    transport: stdio                # Optional, stdio is default
    command: npx                    # Required: npx | uvx | docker
    args:                           # Optional
      - "-y"
      - "@modelcontextprotocol/server-filesystem"
    env:                            # Optional
      ALLOWED_PATHS: "/workspace"
    envFile: ".env"                 # Optional
    encoding: "utf-8"               # Optional
    config:                         # Optional, passed to server init
      allowed_directories:
        - "/workspace/data"
    request_timeout: 60             # Optional, default 60
`,
  sse: `tools:
  - name: cloud_mcp
    description: "Cloud-hosted MCP server"
    type: mcp
    server: "cloud-mcp-service"
    transport: sse                  # Required for SSE
    url: "https://mcp.example.com/sse"  # Required
    headers:                        # Optional
      Authorization: "Bearer \${API_TOKEN}"
      X-Custom-Header: "value"
    timeout: 30                     # Optional, connection timeout
    sse_read_timeout: 120           # Optional, read timeout
    request_timeout: 60             # Optional
`,
  websocket: `tools:
  - name: realtime_mcp
    description: "Real-time MCP server"
    type: mcp
    server: "realtime-service"
    transport: websocket            # Required for WebSocket
    url: "wss://mcp.example.com/ws" # Required
    request_timeout: 60             # Optional
`,
  http: `tools:
  - name: http_mcp
    description: "HTTP MCP server with streaming"
    type: mcp
    server: "http-mcp-service"
    transport: http                 # Required for HTTP
    url: "https://mcp.example.com/stream"  # Required
    headers:                        # Optional
      Authorization: "Bearer \${TOKEN}"
    timeout: 30                     # Optional
    sse_read_timeout: 120           # Optional
    terminate_on_close: true        # Optional
    request_timeout: 60             # Optional
`,
  legacy: `tools:
  - name: old_mcp_tool
    type: mcp
    server: "@modelcontextprotocol/server-memory"
    config:
      key: value
`,
};

export const VARIABLES = {
  API_TOKEN: 'token-of-the-api',
  TOKEN: 'token-of-http',
  GITHUB_TOKEN: 'token-of-github',
  DATABASE_URL: 'postgres://user:pass@db/main',
  CUSTOM_CONFIG: '/etc/custom.json',
  API_KEY: 'key-of-the-api',
  CLOUD_API_KEY: 'key-of-the-cloud',
};

export const PLUGIN_SOURCE = `{
  "name": "GitHub MCP",
  "url": "mcp://github-plugin",
  "source_type": "mcp",
  "mcp_plugin_dir": "/opt/mcp-plugins/github",
  "mcp_transport_type": "stdio",
  "mcp_runtime_hint": "uvx",
  "mcp_lifecycle_mode": "transient",
  "mcp_env_vars": {
    "GITHUB_TOKEN": "ghp_xxx..."
  }
}
`;

export const REMOTE_SOURCE = `{
  "name": "CML MCP Server",
  "url": "http://cml-mcp:9000",
  "source_type": "mcp",
  "mcp_server_url": "http://cml-mcp:9000",
  "mcp_transport_type": "streamable_http",
  "mcp_env_vars": {
    "API_KEY": "optional-auth-header"  // pragma: allowlist secret
  }
}
`;

export const PLUGIN_MANIFEST = `{
  "name": "@modelcontextprotocol/github",
  "version": "1.0.0",
  "description": "GitHub MCP server for repository operations",
  "packages": [
    {
      "name": "default",
      "transport_type": "stdio",
      "runtime": "uvx",
      "command": ["mcp-server-github"],
      "environment_variables": [
        {
          "name": "GITHUB_TOKEN",
          "description": "GitHub Personal Access Token",
          "required": true,
          "secret": true
        }
      ]
    }
  ]
}
`;
