# PowerShell completion of research.
# Written by `research completion`; it is replaced when that is run again.
Register-ArgumentCompleter -Native -CommandName research -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    try {
        $program = Get-Command research -CommandType Application, ExternalScript -ErrorAction Stop | Select-Object -First 1
        $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
            Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
            ForEach-Object { $_.Extent.Text.Trim("'", '"') })
        $count = $words.Count
        if ($wordToComplete -eq '') { $count++ }
        & $program __complete powershell $count @words 2>$null | ForEach-Object {
            $value, $about = $_ -split "`t", 2
            if ($value -eq ':files' -or $value -eq ':folders') { return }
            if (-not $about) { $about = $value }
            # An at sign would splat.
            $inserted = if ($value.StartsWith('@')) { "'$value'" } else { $value }
            [System.Management.Automation.CompletionResult]::new($inserted, $value, 'ParameterValue', $about)
        }
    } catch { }
}
