select 'é漢字' as note, hostid from run
